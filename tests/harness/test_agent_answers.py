"""Answers in an agent loop: useless ones, failures of the model, and figures that come from nowhere."""

import pytest

from harness.agent_state import next_effect
from harness.errors import ErrorCode
from harness.guardrail import GuardReport
from harness.loop import LoopStatus
from harness.loop_calls import CallResult, StepReply
from harness.loop_effects import Ask, Closing, End
from harness.loop_options import LoopOptions
from tests.harness.loops import (
    BAD,
    CONVERSATION,
    SEARCH,
    TRUNCATED,
    Driver,
    Failure,
    Turn,
    answer,
    begin,
    pages,
    turn,
)


def test_a_useless_output_brings_a_note_and_another_step() -> None:
    driver = Driver(begin())

    driver.run([BAD, TRUNCATED, answer("done")])

    first = (
        "1 of your outputs in a row could not be used, the last one: INVALID_OUTPUT. Call tools with valid "
        'arguments, or answer. What was wrong:\n"the output is empty"'
    )
    second = (
        "2 of your outputs in a row could not be used, the last one: OUTPUT_TRUNCATED. Keep it shorter. Call tools "
        'with valid arguments, or answer. What was wrong:\n"cut after 1000 tokens"'
    )
    assert driver.asks()[1] == Ask(2, (), (first,), must_answer=False)
    assert driver.asks()[2] == Ask(3, (), (first, second), must_answer=False)
    assert driver.hints() == [first, second]
    assert driver.state.steps_made == 3


def test_a_blank_answer_is_none() -> None:
    driver = Driver(begin())

    assert driver.run([answer(" \n"), answer("done")]).answer == "done"
    assert len(driver.asks()) == 2


def test_results_of_a_step_that_failed_are_shown_again_and_the_prompt_is_another_one() -> None:
    driver = Driver(begin(LoopOptions(max_failed_answers=20)))

    driver.run([turn(SEARCH), *[TRUNCATED] * 8, answer("done")])

    asks = driver.asks()[1:]
    assert {ask.results for ask in asks} == {(CallResult(id="1.1", tool="search", value="found"),)}
    assert len({ask.notes for ask in asks}) == len(asks)
    assert len(asks[-1].notes) == 5


@pytest.mark.parametrize(
    ("turns", "reason", "code"),
    [
        ([BAD] * 3, "the output is empty", ErrorCode.INVALID_OUTPUT),
        ([BAD, BAD, TRUNCATED], "cut after 1000 tokens", ErrorCode.OUTPUT_TRUNCATED),
    ],
)
def test_useless_outputs_in_a_row_end_it(turns: list[Turn | Failure], reason: str, code: ErrorCode) -> None:
    driver = Driver(begin())

    assert driver.run(turns) == End(
        LoopStatus.FAILED, f"the model's last 3 outputs could not be used; the last one: {reason}", None, code
    )


def test_calls_between_useless_outputs_start_their_count_again() -> None:
    driver = Driver(begin())

    turns: list[Turn | Failure] = [BAD, BAD, *pages(1), BAD, BAD, answer("done")]

    assert driver.run(turns).status is LoopStatus.COMPLETED


def test_useless_outputs_are_counted_as_steps() -> None:
    driver = Driver(begin(LoopOptions(max_steps=2)))

    assert driver.run([BAD, TRUNCATED, answer("done")]).status is LoopStatus.MAX_STEPS_EXCEEDED


@pytest.mark.parametrize("code", [ErrorCode.AUTHENTICATION, ErrorCode.GUARDRAIL_BLOCKED, ErrorCode.TIMEOUT])
def test_any_other_failure_of_the_model_ends_it(code: ErrorCode) -> None:
    driver = Driver(begin())

    end = driver.run([*pages(1), Failure(code, "no luck")])

    assert end == End(LoopStatus.FAILED, "no luck", None, code)


def test_figures_from_nowhere_are_corrected_once() -> None:
    driver = Driver(begin())

    end = driver.run([answer("It costs 17.", "17"), answer("It is cheap.")])

    assert end == End(LoopStatus.COMPLETED, "", "It is cheap.", None)
    note = (
        "These figures of your answer are in no result, goal or memory: '17'. "
        "Answer again: use figures of results only, or leave them out."
    )
    assert driver.asks()[1] == Ask(2, (), (note,), must_answer=False)


def test_a_second_answer_with_figures_from_nowhere_is_taken() -> None:
    driver = Driver(begin())

    end = driver.run([answer("It costs 17.", "17"), answer("It costs 18.", "18")])

    assert end == End(LoopStatus.COMPLETED, "", "It costs 18.", None)


def test_under_high_pressure_an_answer_with_figures_from_nowhere_is_taken_at_once() -> None:
    state = begin()

    told = state.answered(
        StepReply(conversation=CONVERSATION, answer="It costs 17.", guard=GuardReport(ungrounded=("17",))),
        is_high_pressure=True,
    )

    assert told == ()
    assert next_effect(state) == End(LoopStatus.COMPLETED, "", "It costs 17.", None)


def test_a_correction_after_the_last_step_must_answer_and_completes() -> None:
    driver = Driver(begin(LoopOptions(max_steps=1)))

    end = driver.run([answer("It costs 17.", "17"), answer("It is cheap.")])

    assert end == End(LoopStatus.COMPLETED, "", "It is cheap.", None)
    assert [ask.must_answer for ask in driver.asks()] == [False, True]
    assert driver.told[-1] == Closing(LoopStatus.COMPLETED, "the limit of 1 steps is reached")


@pytest.mark.parametrize("last", [turn(SEARCH), Failure(ErrorCode.TIMEOUT)])
def test_an_answer_that_was_to_be_corrected_is_better_than_none(last: Turn | Failure) -> None:
    driver = Driver(begin(LoopOptions(max_steps=1)))

    assert driver.run([answer("It costs 17.", "17"), last]) == End(LoopStatus.COMPLETED, "", "It costs 17.", None)


@pytest.mark.parametrize("status", [LoopStatus.TIMEOUT, LoopStatus.BUDGET_EXHAUSTED, LoopStatus.FAILED])
def test_an_answer_whose_correction_comes_to_nothing_is_taken_as_it_is(status: LoopStatus) -> None:
    state = begin()
    state.answered(StepReply(conversation=CONVERSATION, answer="It costs 17.", guard=GuardReport(ungrounded=("17",))))

    state.refuse(status, "no more", ErrorCode.QUOTA_EXHAUSTED)

    assert next_effect(state) == End(LoopStatus.COMPLETED, "", "It costs 17.", None)
