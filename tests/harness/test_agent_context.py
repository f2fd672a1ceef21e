"""The context of an agent loop: when older steps are replaced by a summary."""

from harness.agent_state import next_effect
from harness.errors import ErrorCode
from harness.loop import LoopStatus
from harness.loop_calls import CallResult, StepReply, ToolCall
from harness.loop_effects import Ask, End, RunCalls, Summarise
from tests.harness.loops import CONVERSATION, OVERFLOW, Driver, Failure, Turn, answer, begin, pages, replied


def test_a_prompt_that_is_too_long_for_the_model_is_summarised_and_asked_once_more() -> None:
    driver = Driver(begin())

    end = driver.run([*pages(1), OVERFLOW, answer("done")])

    assert end.status is LoopStatus.COMPLETED
    assert [type(effect) for effect in driver.effects] == [Ask, RunCalls, Ask, Summarise, Ask]
    assert [ask.step for ask in driver.asks()] == [1, 2, 2]
    assert driver.asks()[1] == driver.asks()[2]


def test_a_prompt_that_is_too_long_even_then_ends_it() -> None:
    driver = Driver(begin())

    end = driver.run([*pages(1), OVERFLOW, OVERFLOW])

    assert end == End(LoopStatus.FAILED, "the prompt has 9000 tokens", None, ErrorCode.CONTEXT_OVERFLOW)


def test_a_step_in_between_allows_another_summary() -> None:
    driver = Driver(begin())

    turns: list[Turn | Failure] = [*pages(1), OVERFLOW, *pages(2)[1:], OVERFLOW, answer("done")]

    assert driver.run(turns).status is LoopStatus.COMPLETED


def test_a_first_prompt_that_is_too_long_ends_it_because_there_is_nothing_to_summarise() -> None:
    driver = Driver(begin(tokens=1_000_000))

    assert driver.run([OVERFLOW]).error_code is ErrorCode.CONTEXT_OVERFLOW
    assert [type(effect) for effect in driver.effects] == [Ask]


def test_over_the_hard_limit_older_steps_are_summarised_before_the_next_step() -> None:
    driver = Driver(begin())

    driver.run([*pages(1, tokens=12_001), *pages(2)[1:], answer("done")])

    assert [type(effect) for effect in driver.effects] == [Ask, RunCalls, Summarise, Ask, RunCalls, Ask]
    assert driver.state.context_tokens == 100


def test_a_summary_that_is_not_short_enough_is_not_tried_again_for_five_steps() -> None:
    driver = Driver(begin(), summary_tokens=12_500)

    driver.run([*pages(7, tokens=13_000), answer("done")])

    summaries = [place for place, effect in enumerate(driver.effects) if isinstance(effect, Summarise)]
    asked = [sum(isinstance(each, Ask) for each in driver.effects[:place]) for place in summaries]
    assert asked == [1, 6]


def test_a_summary_that_failed_is_not_tried_again_for_five_steps() -> None:
    state = begin()
    asked = []
    for step in range(1, 9):
        state.answered(replied(step, ("search", {"page": step})).model_copy(update={"context_tokens": 13_000}))
        state.called(CallResult(id=f"{step}.1", tool="search", value=step), digest=str(step))
        if next_effect(state) == Summarise():
            asked.append(step)
            state.summary_failed(ErrorCode.TIMEOUT, "late")

    assert asked == [1, 6]
    assert isinstance(next_effect(state), Ask)


def test_a_prompt_that_is_too_long_and_cannot_be_shortened_ends_it_without_another_try() -> None:
    state = begin()
    call = ToolCall(id="1.1", tool="now")
    state.answered(StepReply(conversation=CONVERSATION, calls=(call,)))
    state.called(CallResult(id="1.1", tool="now", value="noon"), digest="d")
    state.model_failed(ErrorCode.CONTEXT_OVERFLOW, "too long")
    assert next_effect(state) == Summarise()

    state.summary_failed(ErrorCode.CONTEXT_OVERFLOW, "nothing is left to shorten")

    expected = End(LoopStatus.FAILED, "nothing is left to shorten", None, ErrorCode.CONTEXT_OVERFLOW)
    assert next_effect(state) == expected
