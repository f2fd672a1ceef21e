from dataclasses import replace
from datetime import timedelta

import pytest

from harness.catalog import Backoff, Effect
from harness.errors import ErrorClass, ErrorCode
from harness.recovery import (
    FailedNode,
    FailureContext,
    RecoveryAction,
    Situation,
    action_for,
    backoff,
    bounded_failure,
    code_of_effect,
    decide,
    describe_failure,
    failure_class,
)

VALIDATION, MISSING_INFO, TRANSIENT, FATAL = ErrorClass
REPLAN, RETRY, HALT, EXHAUST = RecoveryAction

CALM = Situation(
    error_class=TRANSIENT,
    can_retry_in_place=True,
    attempt=0,
    max_replans=1,
    retries=0,
    max_retries=1,
    calls_needed=1,
    calls_left=1,
    has_room=True,
    is_high_pressure=False,
)


@pytest.mark.parametrize(
    ("error_class", "action"), [(VALIDATION, REPLAN), (MISSING_INFO, REPLAN), (TRANSIENT, RETRY), (FATAL, HALT)]
)
def test_each_class_calls_for_one_action(error_class: ErrorClass, action: RecoveryAction) -> None:
    assert action_for(error_class) is action


@pytest.mark.parametrize(
    ("situation", "action", "outcome", "reason"),
    [
        (replace(CALM), RETRY, RETRY, "transient failures may pass"),
        (replace(CALM, is_high_pressure=True), RETRY, RETRY, "transient failures may pass"),
        (replace(CALM, can_retry_in_place=False), RETRY, REPLAN, "the tries of the model call are used up"),
        (replace(CALM, retries=1), RETRY, REPLAN, "1 of 1 run-level retries are used"),
        (replace(CALM, max_retries=0), RETRY, REPLAN, "0 of 0 run-level retries are used"),
        (
            replace(CALM, retries=1, attempt=1),
            RETRY,
            HALT,
            "1 of 1 run-level retries are used, but 1 of 1 replans are used",
        ),
        (replace(CALM, calls_needed=2), RETRY, EXHAUST, "a retry needs 2 more tool calls at the least, 1 are left"),
        (replace(CALM, has_room=False), RETRY, EXHAUST, "no budget is left for a retry"),
        (replace(CALM, error_class=VALIDATION), REPLAN, REPLAN, "VALIDATION calls for another plan"),
        (replace(CALM, error_class=MISSING_INFO), REPLAN, REPLAN, "MISSING_INFO calls for another plan"),
        (
            replace(CALM, error_class=VALIDATION, attempt=1),
            REPLAN,
            HALT,
            "VALIDATION calls for another plan, but 1 of 1 replans are used",
        ),
        (
            replace(CALM, error_class=VALIDATION, max_replans=0),
            REPLAN,
            HALT,
            "VALIDATION calls for another plan, but 0 of 0 replans are used",
        ),
        (
            replace(CALM, error_class=VALIDATION, has_room=False),
            REPLAN,
            HALT,
            "VALIDATION calls for another plan, but no budget is left",
        ),
        (
            replace(CALM, error_class=VALIDATION, is_high_pressure=True),
            REPLAN,
            HALT,
            "VALIDATION calls for another plan, but the budget pressure is high",
        ),
        (replace(CALM, error_class=FATAL), HALT, HALT, "FATAL cannot be cured by the run"),
    ],
)
def test_decides(situation: Situation, action: RecoveryAction, outcome: RecoveryAction, reason: str) -> None:
    decision = decide(situation)

    assert (decision.action, decision.outcome, decision.reason) == (action, outcome, reason)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ((TRANSIENT,), TRANSIENT),
        ((TRANSIENT, TRANSIENT), TRANSIENT),
        ((TRANSIENT, MISSING_INFO), MISSING_INFO),
        ((VALIDATION, TRANSIENT), VALIDATION),
        ((VALIDATION, TRANSIENT, MISSING_INFO), MISSING_INFO),
        ((VALIDATION, MISSING_INFO), MISSING_INFO),
        ((TRANSIENT, FATAL, VALIDATION), FATAL),
        ((), FATAL),
    ],
)
def test_most_severe_class_decides_but_transient_gives_way_to_a_new_plan(
    classes: tuple[ErrorClass, ...], expected: ErrorClass
) -> None:
    assert failure_class(classes) is expected


@pytest.mark.parametrize(
    ("try_number", "seconds"), [(-1, 1), (0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (7, 30), (10**9, 30)]
)
def test_backs_off_from_one_second_doubling_to_thirty(try_number: int, seconds: int) -> None:
    assert backoff(try_number, jitter=0.5) == timedelta(seconds=seconds)


def test_jitter_spreads_a_fifth_up_and_down_within_the_limit() -> None:
    assert backoff(2, jitter=0) == timedelta(seconds=1.6)
    assert backoff(2, jitter=1) == timedelta(seconds=2.4)
    assert backoff(9, jitter=1) == timedelta(seconds=30)


def test_a_tool_may_say_how_long_its_tries_wait() -> None:
    slow = Backoff(first=timedelta(seconds=10), limit=timedelta(minutes=2))
    eager = Backoff(first=timedelta(milliseconds=1), limit=timedelta(milliseconds=1))

    assert [backoff(n, jitter=0.5, waits=slow).total_seconds() for n in (1, 2, 3, 4, 5, 50)] == [
        10, 20, 40, 80, 120, 120
    ]  # fmt: skip
    assert backoff(1, jitter=0.5, retry_after_s=90, waits=slow) == timedelta(seconds=90)
    assert backoff(1, jitter=0.5, retry_after_s=900, waits=slow) == timedelta(minutes=2)
    assert backoff(1, jitter=0.5, retry_after_s=20, waits=eager) == timedelta(seconds=20)
    assert backoff(1, jitter=0, waits=eager) == timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("retry_after_s", "seconds"),
    [
        (0, 0.001),
        (7.5, 7.5),
        (30, 30),
        (86_400, 30),
        (float("inf"), 30),
        (-1, 1),
        (float("nan"), 1),
        (float("-inf"), 1),
    ],
)
def test_honours_a_servers_retry_after_up_to_the_limit(retry_after_s: float, seconds: float) -> None:
    assert backoff(1, jitter=0.5, retry_after_s=retry_after_s) == timedelta(seconds=seconds)


def test_describes_a_failure_with_one_line_a_fact() -> None:
    context = FailureContext(
        attempt=1,
        phase="EXECUTING",
        error_class=MISSING_INFO,
        message="1 node failed",
        nodes=(FailedNode(id="facts", tool="get_genre_facts", code=ErrorCode.MISSING_INFO, message="which\ngenre?"),),
        skipped=("games", "summary"),
    )

    assert describe_failure(context).splitlines() == [
        "attempt 1: EXECUTING failed with MISSING_INFO: 1 node failed",
        "node=facts tool=get_genre_facts errorCode=MISSING_INFO error='which\\ngenre?'",
        "skipped: 'games', 'summary'",
    ]


def wide_failure(failed: int, skipped: int, message: str = "x") -> FailureContext:
    nodes = [FailedNode(id=f"n{i}", tool="read", code=ErrorCode.MISSING_INFO, message=message) for i in range(failed)]
    ids = tuple(f"s{i}" for i in range(skipped))
    return FailureContext(
        attempt=0, phase="EXECUTING", error_class=MISSING_INFO, message=message, nodes=tuple(nodes), skipped=ids
    )


def test_a_small_failure_is_told_as_it_is() -> None:
    whole = wide_failure(50, 200, "x" * 500)

    assert bounded_failure(whole) == whole
    assert bounded_failure(whole).model_dump(exclude_unset=True) == whole.model_dump(exclude_unset=True)


def test_a_planner_is_told_the_first_nodes_of_a_wide_failure_and_how_many_more_there_are() -> None:
    told = bounded_failure(wide_failure(1000, 900))

    assert [node.id for node in told.nodes] == [f"n{i}" for i in range(50)]
    assert told.skipped == tuple(f"s{i}" for i in range(200))
    assert (told.nodes_untold, told.skipped_untold) == (950, 700)
    assert bounded_failure(told) == told
    lines = describe_failure(told).splitlines()
    assert len(lines) == 54
    assert lines[51] == "and 950 more failed nodes"
    assert lines[53] == "and 700 more skipped nodes"


def test_long_messages_of_a_failure_are_cut_and_say_so() -> None:
    told = bounded_failure(wide_failure(1, 0, "x" * 100_000))

    assert len(told.message) <= 2000
    assert len(told.nodes[0].message) <= 500
    assert "characters cut" in told.message
    assert "characters cut" in told.nodes[0].message


def test_describes_a_failure_without_nodes_in_one_line() -> None:
    context = FailureContext(attempt=0, phase="VERIFYING", error_class=VALIDATION, message="the report is blank")

    assert describe_failure(context) == "attempt 0: VERIFYING failed with VALIDATION: the report is blank"


@pytest.mark.parametrize(
    ("effect", "code", "seen_as"),
    [
        (Effect.WRITE, ErrorCode.TIMEOUT, ErrorCode.UNCERTAIN_EFFECT),
        (Effect.WRITE, ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.UNCERTAIN_EFFECT),
        (Effect.WRITE, ErrorCode.INVALID_OUTPUT, ErrorCode.UNCERTAIN_EFFECT),
        (Effect.WRITE, ErrorCode.RATE_LIMITED, ErrorCode.RATE_LIMITED),
        (Effect.WRITE, ErrorCode.INVALID_ARGUMENT, ErrorCode.INVALID_ARGUMENT),
        (Effect.IDEMPOTENT_WRITE, ErrorCode.TIMEOUT, ErrorCode.TIMEOUT),
        (Effect.READ, ErrorCode.TIMEOUT, ErrorCode.TIMEOUT),
    ],
)
def test_a_write_that_may_have_been_done_is_uncertain(effect: Effect, code: ErrorCode, seen_as: ErrorCode) -> None:
    assert code_of_effect(effect, code) is seen_as
