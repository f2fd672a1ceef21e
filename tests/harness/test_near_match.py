import time

import pytest

from harness.near_match import MAX_SEARCHES, NearMatches

TOOLS = ("web_search", "get_prices", "get_games")


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("web_serach", "; did you mean 'web_search'?"),
        ("web_search ", "; did you mean 'web_search'?"),
        ("Web_Search", "; did you mean 'web_search'?"),
        ("get_game", "; did you mean 'get_games'?"),
        ("get_prices_and_games", "; did you mean 'get_prices' or 'get_games'?"),
        ("delete_database", ""),
        ("", ""),
        ("x" * 1_000_000, ""),
    ],
)
def test_hints_at_what_may_have_been_meant(wrong: str, hint: str) -> None:
    assert NearMatches(TOOLS).hint(wrong) == hint


def test_names_several_that_are_near_in_their_own_spelling() -> None:
    assert NearMatches(["Node1", "Node2", "far away"]).hint("node3") == "; did you mean 'Node2' or 'Node1'?"


def test_stops_searching_after_many_different_wrong_names() -> None:
    matches = NearMatches(TOOLS)
    first = [matches.hint(f"get_prices{i}") for i in range(MAX_SEARCHES)]

    assert first[-1] == "; did you mean 'get_prices'?"
    assert matches.hint("get_pricesX") == ""
    assert matches.hint("get_prices0") == first[0]


def test_searching_many_names_takes_little_time() -> None:
    started = time.process_time()
    matches = NearMatches(f"node{i}" for i in range(100_000))
    for i in range(1000):
        matches.hint(f"nodf{i}")

    assert time.process_time() - started < 2
