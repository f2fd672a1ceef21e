"""Node-level retry, its ledger, and the run-level retry after it."""

from datetime import timedelta

import pytest
from temporalio.testing import WorkflowEnvironment

from activities.model.request import ModelError
from harness.errors import ErrorClass, ErrorCode, ToolError
from harness.run import RunStatus
from harness.trace import TraceKind
from tests.stage import USAGE, fan_in, kinds, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

LATE = ToolError(ErrorCode.TIMEOUT, "no answer in time")
LIMITED = ToolError(ErrorCode.RATE_LIMITED, "slow down", retry_after_s=7)
ABSURD = ToolError(ErrorCode.RATE_LIMITED, "come back next year", retry_after_s=31_000_000)


async def test_a_node_is_retried_and_every_try_is_traced_and_charged(time_skipping: WorkflowEnvironment) -> None:
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [LATE, LATE, "found"]}) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert [
        (e.data["try"], e.data["errorCode"], e.message) for e in result.trace if e.kind is TraceKind.NODE_RETRY
    ] == [
        (1, "TIMEOUT", "no answer in time"),
        (2, "TIMEOUT", "no answer in time"),
    ]
    assert result.plan[0].tries == 3
    assert result.budget.tool_calls == len(it.tools.calls) == 4


async def test_all_tries_of_a_node_carry_one_idempotency_key(time_skipping: WorkflowEnvironment) -> None:
    async with stage(time_skipping.client, fan_in("a", "b"), outcomes={"a": [LATE, "found"]}) as it:
        await it.run(max_replans=0)

    keys = {call.node_id: {c.key for c in it.tools.calls if c.node_id == call.node_id} for call in it.tools.calls}
    assert all(len(of_node) == 1 for of_node in keys.values())
    assert len({key for of_node in keys.values() for key in of_node}) == 3


async def test_the_wait_between_tries_doubles_from_one_second_with_jitter(time_skipping: WorkflowEnvironment) -> None:
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [LATE, LATE, "found"]}) as it:
        result = await it.run()

    start = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_START)
    end = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_FINISH)
    assert timedelta(seconds=0.8 * 3) <= end - start <= timedelta(seconds=1.2 * 3 + 2)


@pytest.mark.parametrize(
    ("error", "least_s", "most_s"), [(LIMITED, 7, 10), (ABSURD, 30, 33)], ids=["honoured", "capped at 30 s"]
)
async def test_retry_after_is_honoured_and_capped(
    time_skipping: WorkflowEnvironment, error: ToolError, least_s: int, most_s: int
) -> None:
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [error, "found"]}) as it:
        result = await it.run()

    start = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_START)
    end = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_FINISH)
    assert timedelta(seconds=least_s) <= end - start <= timedelta(seconds=most_s)


async def test_when_tries_are_used_up_the_run_retries_once_and_keeps_what_is_done(
    time_skipping: WorkflowEnvironment,
) -> None:
    async with stage(time_skipping.client, fan_in("a", "b"), outcomes={"a": [LATE, LATE, LATE, "found"]}) as it:
        result = await it.run(retry_wait=timedelta(seconds=5))

    assert result.status is RunStatus.SUCCEEDED
    assert len(it.model.requests) == 1
    assert it.tools.count("b") == 1
    assert kinds(result, "retrying.start") == ["retrying.start"]
    assert result.plan[0].tries == 4
    assert len({call.key for call in it.tools.calls if call.tool == "a"}) == 1
    assert result.budget.tool_calls == len(it.tools.calls) == 6
    (decision,) = [e for e in result.trace if e.kind is TraceKind.RECOVERY_DECIDE]
    assert (decision.status, decision.data["outcome"]) == ("RETRY", "RETRY")


async def test_after_the_run_level_retry_a_transient_failure_replans(time_skipping: WorkflowEnvironment) -> None:
    async with stage(time_skipping.client, fan_in("a"), fan_in("b"), outcomes={"a": [LATE]}) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    decisions = [(e.status, e.data["outcome"]) for e in result.trace if e.kind is TraceKind.RECOVERY_DECIDE]
    assert decisions == [("RETRY", "RETRY"), ("RETRY", "REPLAN")]
    assert it.tools.count("a") == 6


async def test_a_transient_failure_for_good_ends_failed_execution(time_skipping: WorkflowEnvironment) -> None:
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [LATE]}) as it:
        result = await it.run(max_replans=0)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_class is ErrorClass.TRANSIENT
    assert "errorCode=TIMEOUT" in (result.error or "")


async def test_a_transient_planner_is_asked_three_times_and_charged_for_each(
    time_skipping: WorkflowEnvironment,
) -> None:
    down = ModelError(ErrorCode.PROVIDER_UNAVAILABLE, "down", usage=USAGE)
    async with stage(time_skipping.client, down, down, fan_in("a")) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert len(it.model.requests) == 3
    assert result.budget.tokens == 3 * 150


async def test_a_planner_that_stays_down_ends_the_run_after_its_replans(time_skipping: WorkflowEnvironment) -> None:
    async with stage(time_skipping.client, ModelError(ErrorCode.PROVIDER_UNAVAILABLE, "down")) as it:
        result = await it.run(max_replans=1)

    assert result.status is RunStatus.FAILED_PLANNING
    assert result.error_class is ErrorClass.TRANSIENT
    assert len(it.model.requests) == 6
