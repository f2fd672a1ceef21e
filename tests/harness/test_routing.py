import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.routing import Offer, offer_of, pick_by_rule
from tests.builders import TEXT, tool_spec

OFFERS = [
    Offer(name="convert_currency", summary="Convert an amount.", parameters=("amount", "currency")),
    Offer(name="get_current_time", summary="Tell the time of a zone.", parameters=("timezone",)),
    Offer(name="listCommits", toolkit="mcp:git", summary="List commits."),
    Offer(name="log", summary="Show commit messages."),
]


@pytest.mark.parametrize(
    ("goal", "picked"),
    [
        ("What time is it in Tokyo?", ("get_current_time",)),
        ("commits of the git repository", ("listCommits", "log")),
        ("Give me the COMMIT log", ("log", "listCommits")),
        ("the amounts in another currency", ("convert_currency",)),
        ("Was ist zu tun?", ("convert_currency", "get_current_time", "listCommits")),
        ("the of and", ("convert_currency", "get_current_time", "listCommits")),
    ],
)
def test_the_words_that_goal_and_tool_share_decide(goal: str, picked: tuple[str, ...]) -> None:
    assert pick_by_rule(goal, OFFERS, 3, has_failed=False) == picked


def test_after_a_failure_there_are_also_tools_that_share_no_word() -> None:
    picked = pick_by_rule("What time is it in Tokyo?", OFFERS, 3, has_failed=True)

    assert picked == ("get_current_time", "convert_currency", "listCommits")


@given(goal=st.text(max_size=60), most=st.integers(0, 6), has_failed=st.booleans())
def test_a_pick_is_of_what_there_is_within_the_limit_and_always_the_same(
    goal: str, most: int, *, has_failed: bool
) -> None:
    picked = pick_by_rule(goal, OFFERS, most, has_failed=has_failed)

    assert len(set(picked)) == len(picked) <= most
    assert set(picked) <= {offer.name for offer in OFFERS}
    assert bool(picked) == (most > 0)
    assert picked == pick_by_rule(goal, OFFERS, most, has_failed=has_failed)


@pytest.mark.parametrize(
    ("description", "summary"),
    [
        ("Tell the time. It knows all zones.", "Tell the time."),
        ("Version 1.5 of\n  the clock.\nMore.", "Version 1.5 of the clock."),
        ("No full stop\n\nArgs:\n    zone: a zone", "No full stop"),
        ("x" * 300, "x" * 197 + "..."),
        ("", ""),
    ],
)
def test_an_offer_has_the_first_sentence(description: str, summary: str) -> None:
    tool = tool_spec("clock", parameters={"zone": TEXT}).model_copy(update={"description": description})

    assert offer_of(tool) == Offer(name="clock", summary=summary, parameters=("zone",))


def test_what_an_offer_does_not_have_is_left_out_on_the_wire() -> None:
    tool = tool_spec("clock").model_copy(update={"description": "", "toolkit": "games"})

    assert offer_of(tool).model_dump(exclude_unset=True) == {"name": "clock", "toolkit": "games"}
