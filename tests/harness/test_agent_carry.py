"""What an agent loop carries through continue-as-new, and that it ends whatever a model says."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from harness.agent_carry import AgentCarry
from harness.agent_state import AgentState, next_effect
from harness.errors import ErrorCode
from harness.guardrail import GuardReport
from harness.loop import LoopStatus
from harness.loop_calls import CallResult, StepReply
from harness.loop_effects import End
from harness.loop_notes import repeat_hint
from harness.loop_options import LoopOptions
from tests.harness.loops import (
    CONVERSATION,
    TOOLS,
    Arguments,
    Driver,
    Failure,
    Outcome,
    Turn,
    Wanted,
    as_it_is,
    begin,
    carried,
    replied,
    rules_of,
)

CODES = st.sampled_from(ErrorCode)
VALUES = st.one_of(st.integers(0, 3), st.sampled_from(["x", "1"]))
OUTCOMES = st.builds(
    Outcome,
    VALUES,
    st.one_of(st.none(), CODES),
    st.sampled_from(["", "why"]),
    st.booleans(),
)
CALLS = st.builds(
    Wanted,
    st.sampled_from(["search", "now", "remember", "recall", "serch", ""]),
    st.dictionaries(st.sampled_from(["query", "page", "key", "value"]), VALUES, max_size=2),
    OUTCOMES,
    st.sampled_from(["", "", "no JSON"]),
)
TURNS = st.builds(
    Turn,
    st.lists(CALLS, max_size=4).map(tuple),
    st.one_of(st.none(), st.sampled_from(["", "42"])),
    st.sampled_from(["", "empty"]),
    st.sampled_from([(), ("42",)]),
    st.sampled_from([100, 20_000]),
)
OPTIONS = st.builds(
    LoopOptions,
    max_steps=st.integers(1, 8),
    repeat_limit=st.integers(2, 4),
    no_progress_steps=st.integers(1, 6),
    max_failed_answers=st.integers(1, 4),
)


def test_what_it_carries_stays_small() -> None:
    state = begin(LoopOptions(max_steps=10_000, repeat_limit=100))
    for step in range(1, 2001):
        calls: list[tuple[str, Arguments]] = [("search", {"page": step, "query": f"{place}"}) for place in range(3)]
        state.answered(replied(step, *calls))
        for place in range(1, 4):
            state.called(CallResult(id=f"{step}.{place}", tool="search", value=step), digest=f"{step}.{place}")
    state.answered(
        StepReply(
            conversation=CONVERSATION,
            answer="short",
            guard=GuardReport(ungrounded=tuple("\u4e2d" * 60 for _ in range(100))),
        )
    )
    known = CallResult(id="1.1", tool="search", value="\u4e2d" * 600)
    state.notes += [repeat_hint(known, times) for times in range(4)]
    state.must_close(LoopStatus.TIMEOUT, "\u4e2d" * 9000)

    assert len(state.notes) == 5
    assert len(state.carry().model_dump_json().encode()) < 20_000


def test_an_answer_that_is_to_be_corrected_is_carried_whole() -> None:
    text = "It costs 17. " * 5000
    state = begin()
    state.answered(StepReply(conversation=CONVERSATION, answer=text, guard=GuardReport(ungrounded=("17",))))

    again = carried(state)
    again.refuse(LoopStatus.CANCELLED, "stop")

    assert next_effect(again) == End(LoopStatus.CANCELLED, "stop", text, None)


def test_a_carried_state_is_the_same_state() -> None:
    state = begin()
    state.answered(replied(1, ("now", {}), ("search", {"query": "a"}), ("serch", {})))
    state.called(CallResult(id="1.1", tool="now", value="noon"), digest="n")
    state.must_close(LoopStatus.TIMEOUT, "late")

    again = carried(state)

    assert again == state
    assert again.carry() == state.carry()


def test_a_carried_state_does_not_change_with_its_first_owner() -> None:
    state = begin()
    carry = state.carry()
    first = AgentState.resume(carry, state.options, rules_of(*TOOLS))
    first.answered(replied(1, ("now", {})))
    state.answered(replied(1, ("search", {})))

    assert AgentState.resume(carry, LoopOptions(), rules_of(*TOOLS)) == begin()
    assert AgentCarry.model_validate_json(carry.model_dump_json()) == carry


@given(
    OPTIONS,
    st.lists(st.one_of(TURNS, TURNS, st.builds(Failure, CODES)), max_size=20),
    st.sampled_from([50, 20_000]),
    st.sampled_from([as_it_is, carried]),
)
def test_whatever_the_model_says_it_ends(
    options: LoopOptions,
    turns: list[Turn | Failure],
    summary_tokens: int,
    between: Callable[[AgentState], AgentState],
) -> None:
    driver = Driver(begin(options), between, summary_tokens)

    end = driver.run(turns)

    asks = driver.asks()
    assert max(ask.step for ask in asks) <= options.max_steps + 1
    assert all(asks.count(ask) <= 2 for ask in asks)
    assert len(driver.effects) <= 5 * (options.max_steps + 1)
    assert sum(ask.must_answer for ask in asks) <= 1
    assert driver.state.steps_made <= options.max_steps
    assert (end.status is LoopStatus.COMPLETED) <= (end.answer is not None)


@given(OPTIONS, st.lists(st.one_of(TURNS, st.builds(Failure, CODES)), max_size=20))
def test_carrying_at_every_point_changes_nothing(options: LoopOptions, turns: list[Turn | Failure]) -> None:
    whole, carrying = Driver(begin(options)), Driver(begin(options), carried)

    assert whole.run(turns) == carrying.run(turns)
    assert whole.effects == carrying.effects
    assert whole.told == carrying.told
