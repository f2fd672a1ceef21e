import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.context_window import (
    Trimmed,
    head_of,
    in_view,
    room_for_outputs,
    room_for_turns,
    shares,
    trimmed,
    turns_to_summarise,
)
from harness.conversation import Conversation, Observation, Said, Turn
from harness.usage import estimate_tokens


def step(number: int, *results: str, text: str = "") -> Turn:
    """Return a step with one call for each result."""
    calls = tuple(Said(id=f"{number}.{i}", tool="read", arguments="{}") for i in range(len(results)))
    seen = tuple(
        Observation(id=f"{number}.{i}", tool="read", text=result, size=len(result)) for i, result in enumerate(results)
    )
    return Turn(step=number, text=text, calls=calls, observations=seen)


def flags(conversation: Conversation) -> list[list[bool]]:
    """Return which outputs were dropped, by turn."""
    return [[seen.is_dropped for seen in turn.observations] for turn in conversation.turns]


def test_outputs_get_half_of_the_soft_limit_and_each_squeeze_halves_it() -> None:
    assert [room_for_outputs(8000, squeezes) for squeezes in (0, 1, 2)] == [4000, 2000, 1000]
    assert room_for_outputs(100, 3) == 50


def test_turns_get_what_the_rest_of_the_prompt_leaves_but_at_least_half() -> None:
    assert room_for_turns(8000, 1000) == 7000
    assert room_for_turns(8000, 9000) == 4000


@pytest.mark.parametrize(
    ("wanted", "room", "given"),
    [
        ([], 100, ()),
        ([100, 200], 1000, (100, 200)),
        ([5000, 100, 5000], 1000, (450, 100, 450)),
        ([300, 400], 600, (300, 300)),
        ([1000, 1000, 1000], 60, (50, 50, 50)),
        ([1000, 10], 0, (50, 10)),
    ],
    ids=["none", "all fit", "small ones whole", "rest to the last", "at least a little", "no room"],
)
def test_a_room_is_shared_so_that_small_outputs_stay_whole(
    wanted: list[int], room: int, given: tuple[int, ...]
) -> None:
    assert shares(wanted, room) == given


@pytest.mark.parametrize(
    ("text", "tokens", "head"),
    [
        ("short", 20, "short"),
        ("x" * 400, 58, "x" * 200),
        ("价" * 100, 18, "价" * 10),
        ("ab价" * 10, 10, "ab价ab"),
        ("x" * 100, 3, ""),
    ],
    ids=["whole", "ascii", "chinese", "mixed", "no room"],
)
def test_the_head_of_a_text_takes_no_more_tokens_than_there_are(text: str, tokens: int, head: str) -> None:
    assert head_of(text, tokens) == head


@given(st.text(max_size=300), st.integers(8, 100))
def test_the_head_of_any_text_fits_and_begins_it(text: str, tokens: int) -> None:
    head = head_of(text, tokens)

    assert text.startswith(head)
    assert estimate_tokens(head) <= tokens


def test_nothing_is_dropped_from_a_conversation_that_fits() -> None:
    conversation = Conversation(turns=(step(1, "x" * 4000), step(2, "y" * 4000)))

    assert trimmed(conversation, 10_000) == Trimmed(conversation, 0)


def test_the_oldest_outputs_are_dropped_first_and_no_more_than_needed() -> None:
    conversation = Conversation(turns=(step(1, "x" * 4000, "x" * 4000), step(2, "y" * 4000), step(3, "z" * 4000)))
    assert conversation.tokens == 4284

    slim = trimmed(conversation, 3400)

    assert slim.dropped == 1
    assert flags(slim.conversation) == [[True, False], [False], [False]]
    assert slim.conversation.tokens == 3369


def test_the_newest_step_keeps_its_outputs_whatever_they_take() -> None:
    conversation = Conversation(turns=(step(1, "x" * 4000), step(2, "y" * 4000)))

    slim = trimmed(conversation, 0)

    assert (slim.dropped, flags(slim.conversation)) == (1, [[True], [False]])
    assert slim.conversation.turns[1] == conversation.turns[1]


def test_a_call_and_its_dropped_output_stay_together() -> None:
    slim = trimmed(Conversation(turns=(step(1, "x" * 4000), step(2, "y"))), 0).conversation

    [call], [seen] = slim.turns[0].calls, slim.turns[0].observations
    assert (call.id, seen.id, seen.text) == ("1.0", "1.0", "x" * 120)


def test_small_and_dropped_outputs_are_not_dropped_again() -> None:
    once = trimmed(Conversation(turns=(step(1, "x" * 4000, "small"), step(2, "y"))), 0)

    assert (once.dropped, trimmed(once.conversation, 0)) == (1, Trimmed(once.conversation, 0))


@given(st.lists(st.lists(st.integers(0, 3000), max_size=3), min_size=1, max_size=8), st.integers(0, 6000))
def test_trimming_parts_no_call_from_its_output_and_never_makes_a_prompt_longer(
    sizes: list[list[int]], room: int
) -> None:
    conversation = Conversation(turns=tuple(step(i, *("x" * size for size in each)) for i, each in enumerate(sizes)))

    slim = trimmed(conversation, room).conversation

    assert slim.tokens <= conversation.tokens
    assert slim.turns[-1] == conversation.turns[-1]
    for before, after in zip(conversation.turns, slim.turns, strict=True):
        assert before.calls == after.calls
        assert [seen.id for seen in before.observations] == [seen.id for seen in after.observations]


def test_steps_that_do_not_fit_are_shown_in_short_only() -> None:
    turns = tuple(step(number, "x" * 400) for number in (1, 2, 3))
    conversation = Conversation(turns=turns)

    shown = in_view(conversation, turns[0].tokens * 2)

    assert [turn.step for turn in shown.turns] == [2, 3]
    assert shown.summarised_steps == 1
    assert shown.record[0].startswith("step 1: read({}) -> xxx")


def test_the_newest_step_is_in_view_though_it_does_not_fit() -> None:
    conversation = Conversation(turns=(step(1, "x"), step(2, "y" * 4000)))

    assert [turn.step for turn in in_view(conversation, 10).turns] == [2]


def test_a_conversation_that_fits_is_in_view_as_it_is() -> None:
    conversation = Conversation(turns=(step(1, "x"),))

    assert in_view(conversation, 1000) is conversation
    assert in_view(Conversation(), 0) == Conversation()


def test_the_oldest_steps_are_summarised_as_far_as_the_others_do_not_fit() -> None:
    turns = tuple(step(number, "x" * 400) for number in (1, 2, 3))

    assert turns_to_summarise(Conversation(turns=turns), turns[0].tokens * 2) == 1
    assert turns_to_summarise(Conversation(turns=turns), 0) == 2
    assert turns_to_summarise(Conversation(), 100) == 0
