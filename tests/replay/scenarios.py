"""The runs whose histories are recorded: one for each path through the orchestrator."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle

from activities.toolkit import Report
from harness.budget import Extension, Limits
from harness.errors import ErrorCode, ToolError
from harness.plan import Plan
from harness.routed_catalog import ToolPick
from tests.builders import node, plan, results_of
from tests.stage import Answer, Outcome, Stage, fan_in, patient, stage
from workflows.orchestrator import OrchestratorWorkflow

LATE = ToolError(ErrorCode.TIMEOUT, "no answer in time", retry_after_s=0.05)
MISSING = ToolError(ErrorCode.MISSING_INFO, "the period is missing; name one")
LONG_HISTORY = 60
"""Events from which the recording server suggests to continue as new."""
Story = Callable[[Client], Awaitable[WorkflowHandle[Any, Any]]]


def run_of(*script: Answer, outcomes: dict[str, list[Outcome]] | None = None, **options: Any) -> Story:
    """Return a story that runs to its end."""

    async def story(client: Client) -> WorkflowHandle[Any, Any]:
        async with stage(client, *script, outcomes=outcomes) as it:
            handle = await it.start(**options)
            await asyncio.wait_for(handle.result(), 60)
            return handle

    return story


def interrupted(act: Callable[[Stage, WorkflowHandle[Any, Any]], Awaitable[None]]) -> Story:
    """Return a story in which something happens while a node hangs."""

    async def story(client: Client) -> WorkflowHandle[Any, Any]:
        started, released = asyncio.Event(), asyncio.Event()

        async def hang(_: object) -> str:
            started.set()
            await asyncio.wait_for(released.wait(), 30)
            return "released"

        async with stage(client, fan_in("a", "b"), outcomes={"b": [hang]}, toolkit=patient) as it:
            handle = await it.start()
            await asyncio.wait_for(started.wait(), 20)
            await act(it, handle)
            released.set()
            await asyncio.wait_for(handle.result(), 60)
            return handle

    return story


async def cancel(_: Stage, handle: WorkflowHandle[Any, Any]) -> None:
    """Cancel the run and wait until it is over, so that the hanging node is cancelled rather than released."""
    await handle.cancel()
    await asyncio.wait_for(handle.result(), 30)


async def extend(_: Stage, handle: WorkflowHandle[Any, Any]) -> None:
    """Raise a limit."""
    await handle.execute_update(OrchestratorWorkflow.extend, Extension(message_id="m1", tool_calls=3))


def wide(width: int) -> Plan:
    """Return a plan whose history is long enough to go on in another workflow run."""
    ids = [f"n{number}" for number in range(width)]
    report = node("report", "write_report", deps=ids, arguments={"sources": results_of("n0")})
    return plan(*(node(node_id, "a") for node_id in ids), report)


SCENARIOS: dict[str, Story] = {
    "success": run_of(fan_in("a", "b", "c", "d", deps={"c": ("a",)})),
    "validation_replan": run_of(plan(node("x", "nothing")), fan_in("a")),
    "execution_replan_with_reuse": run_of(fan_in("a", "b"), outcomes={"a": [MISSING, "found"]}),
    "node_retry_then_success": run_of(fan_in("a", "b"), outcomes={"a": [LATE, "found"]}),
    "retries_exhausted_then_retrying": run_of(fan_in("a", "b"), outcomes={"a": [LATE, LATE, LATE, "found"]}),
    "budget_exhausted": run_of(
        fan_in(*"abcd"), outcomes={name: [LATE] for name in "abcd"}, limits=Limits(max_tool_calls=6)
    ),
    "wall_clock_over": run_of(
        fan_in("a", "b"),
        outcomes={"b": [lambda _: asyncio.sleep(30)]},
        limits=Limits(max_wall_clock=timedelta(seconds=1)),
    ),
    "verification_failure": run_of(fan_in("a"), outcomes={"write_report": [Report(report="")]}, max_replans=1),
    "planning_failure": run_of("no plan", max_replans=1),
    "fatal_failure": run_of(fan_in("a", "b"), outcomes={"a": [RuntimeError("boom")]}),
    "cancelled": interrupted(cancel),
    "extended": interrupted(extend),
    "routed": run_of(ToolPick(tools=("a",)).model_dump_json(), fan_in("a"), max_tools_shown=3),
    "continued_in_plan": run_of(wide(20)),
    "continued_through_pages": run_of(wide(14), outcomes={"a": ["x" * 9000]}, max_concurrency=1),
}
