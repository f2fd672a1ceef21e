"""The activity boundary: whatever a tool or a worker does, the try is charged and the end is typed."""

import asyncio
import sys
import threading
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from activities.toolkit import Toolkit, tool
from harness.budget import MOST_TOKENS, Extension, Limits
from harness.carry import RunInput
from harness.errors import ErrorCode, ToolError
from harness.run import RunStatus
from harness.schedule import NodeStatus
from harness.verification import PASSED, Verdict
from tests.builders import node, plan, results_of
from tests.stage import ScriptedTools, fan_in, patient, stage
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

MISSING = ToolError(ErrorCode.MISSING_INFO, "look elsewhere")


async def cancel_itself(_: object) -> str:
    raise asyncio.CancelledError


async def leave(_: object) -> str:
    sys.exit(3)


ODD_ENDS = {
    "an ApplicationError": ApplicationError("again", type="MINE"),
    "an ApplicationError with details": ApplicationError("again", {"tries": "many"}, 7, type="TIMEOUT"),
    "a CancelledError": cancel_itself,
    "SystemExit": leave,
}


@pytest.mark.parametrize("end", ODD_ENDS.values(), ids=ODD_ENDS.keys())
async def test_an_odd_end_of_a_tool_is_one_try_and_fatal(client: Client, end: Any) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [end]}) as it:
        result = await it.run(within=15)

    assert it.tools.count("a") == 1
    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.TOOL_EXECUTION_FAILED
    assert result.plan[0].tries == result.budget.tool_calls == 1


async def test_a_worker_that_stops_on_the_last_try_does_not_end_the_run_as_internal(client: Client) -> None:
    started, queue = asyncio.Event(), "boundary-stop"

    async def hang(_: object) -> str:
        started.set()
        await asyncio.sleep(30)
        return "late"

    async with stage(
        client, fan_in("a"), outcomes={"a": [hang]}, toolkit=patient, task_queue=queue, graceful_stop=timedelta(0)
    ) as it:
        handle = await it.start(limits=Limits(max_tool_calls=3), max_replans=0)
        await asyncio.wait_for(started.wait(), 10)
    async with stage(client, fan_in("a"), task_queue=queue):
        result = await asyncio.wait_for(handle.result(), 30)

    assert result.status is RunStatus.SUCCEEDED
    assert result.plan[0].tries == 2
    assert result.budget.tool_calls == 3


async def test_limits_extended_to_the_bound_survive_a_replan(client: Client) -> None:
    reached, extended = asyncio.Event(), asyncio.Event()

    async def fail_later(_: object) -> str:
        reached.set()
        await extended.wait()
        raise MISSING

    async with stage(client, fan_in("a"), fan_in("b"), outcomes={"a": [fail_later]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(reached.wait(), 10)
        most = Extension(message_id="m", tokens=MOST_TOKENS, wall_clock=timedelta(days=365))
        await handle.execute_update(OrchestratorWorkflow.extend, most)
        extended.set()
        result = await asyncio.wait_for(handle.result(), 10)

    assert result.status is RunStatus.SUCCEEDED
    assert result.budget.max_tokens == MOST_TOKENS


async def test_a_refused_plan_is_kept_with_its_attempt(client: Client) -> None:
    async with stage(client, plan(node("x", "nothing"), node("y", "a"))) as it:
        result = await it.run(max_replans=1)

    assert [n.node.id for n in result.attempts[0].nodes] == ["x", "y"]
    assert [(n.node.id, n.status) for n in result.plan] == [("x", NodeStatus.PENDING), ("y", NodeStatus.PENDING)]


async def test_a_raw_client_cannot_forge_what_a_run_carries(client: Client) -> None:
    carry = {"attempt": 0, "started_at": "2099-01-01T00:00:00Z", "limits": {}, "ledger": {}}
    async with stage(client, fan_in("a")) as it:
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow(
                "OrchestratorWorkflow",
                {"goal": "g", "toolkit": "stage", "carry": carry},
                id="run-forged",
                task_queue=it.task_queue,
            )

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "INVALID_REQUEST"
    assert RunInput.model_fields["carry"].default is None


def judged_by(rule: Any) -> Any:
    return lambda tools: replace(tools.toolkit(), verify=rule)


async def test_a_rule_that_returns_no_verdict_publishes_nothing(client: Client) -> None:
    async with stage(client, fan_in("a"), toolkit=judged_by(lambda *_: True)) as it:
        result = await it.run()

    assert result.status is RunStatus.FAILED_VERIFICATION
    assert result.report is None
    assert result.verdict is not None
    assert result.verdict.outcome == "NOT_VERIFIED"


async def test_a_rule_that_blocks_does_not_stop_the_worker(client: Client) -> None:
    released = threading.Event()

    def block(*_: object) -> Verdict:
        released.wait(5)
        return PASSED

    async with stage(client, fan_in("a"), toolkit=judged_by(block)) as it:
        handle = await it.start()
        ticks, began = 0, time.monotonic()
        while time.monotonic() - began < 0.5:
            await asyncio.sleep(0.01)
            ticks += 1
        released.set()
        result = await asyncio.wait_for(handle.result(), 10)

    assert ticks > 10
    assert result.status is RunStatus.SUCCEEDED


async def test_tools_that_hang_in_threads_do_not_starve_the_others(client: Client) -> None:
    released = threading.Event()

    def kit(tools: ScriptedTools) -> Toolkit:
        @tool(timeout=timedelta(seconds=1), max_tries=1)
        def hang() -> str:
            """Hang."""
            released.wait(20)
            return "released"

        @tool(timeout=timedelta(seconds=1), max_tries=1)
        def quick() -> str:
            """Answer at once."""
            return "quick"

        whole = tools.toolkit()
        return replace(whole, tools=(*whole.tools, hang, quick))

    hanging = [node(f"h{i}", "hang") for i in range(12)]
    last = node("report", "write_report", deps=["q"], arguments={"sources": results_of("q")})
    reads = plan(
        *hanging, node("q", "quick", deps=[]), last.model_copy(update={"deps": (*(n.id for n in hanging), "q")})
    )
    try:
        async with stage(client, reads, toolkit=kit) as it:
            result = await it.run(max_concurrency=20, max_run_retries=0, max_replans=0, within=20)
    finally:
        released.set()

    statuses = {n.node.id: n.status for n in result.plan}
    assert statuses["q"] is NodeStatus.DONE
    assert {statuses[n.id] for n in hanging} == {NodeStatus.FAILED}
