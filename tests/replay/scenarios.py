"""The runs whose histories are recorded: one for each path through the orchestrator."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle

from activities.model.request import ModelError, ModelRequest
from activities.toolkit import Report
from harness.budget import Extension, Limits
from harness.errors import ErrorCode, ToolError
from harness.plan import Plan
from harness.routed_catalog import ToolPick
from tests.agent_stage import agent, agent_stage, reported
from tests.builders import literal, node, plan, result_of, results_of
from tests.loop_stage import Move, Script, call, loop_stage
from tests.stage import Answer, Outcome, Stage, fan_in, patient, stage
from workflows.orchestrator import OrchestratorWorkflow

LATE = ToolError(ErrorCode.TIMEOUT, "no answer in time", retry_after_s=0.05)
BUSY = ModelError(ErrorCode.RATE_LIMITED, "429", retry_after_s=0.05)
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


def loop_of(script: Script, outcomes: dict[str, list[Outcome]] | None = None, **options: Any) -> Story:
    """Return a story of an agent loop that runs to its end."""

    async def story(client: Client) -> WorkflowHandle[Any, Any]:
        async with loop_stage(client, script, outcomes=outcomes) as it:
            handle = await it.start(**options)
            await asyncio.wait_for(handle.result(), 60)
            return handle

    return story


async def cancelled_loop(client: Client) -> WorkflowHandle[Any, Any]:
    """Cancel a loop while one of the calls of its second step hangs."""
    started = asyncio.Event()

    async def hang(_: object) -> str:
        started.set()
        await asyncio.sleep(60)
        return "late"

    script = [call("a"), [("b", {}), ("c", {})]]
    async with loop_stage(client, script, outcomes={"b": [hang]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(started.wait(), 20)
        await handle.cancel()
        await asyncio.wait_for(handle.result(), 30)
        return handle


async def loop_cancelled_while_asked(client: Client) -> WorkflowHandle[Any, Any]:
    """Cancel a loop while its model is asked for the second step."""
    async with loop_stage(client, [call("a"), call("b")]) as it:
        handle = await it.start()
        async with asyncio.timeout(20):
            while not it.tools.calls:  # noqa: ASYNC110 - what was called has no event
                await asyncio.sleep(0.005)
            it.model.delay_s = 60
            while len(it.model.requests) < 2:  # noqa: ASYNC110 - what was asked has no event
                await asyncio.sleep(0.005)
        await handle.cancel()
        await asyncio.wait_for(handle.result(), 30)
        return handle


async def plan_with_agent(client: Client) -> WorkflowHandle[Any, Any]:
    """Run a plan that has an agent among its nodes."""
    search = node("search", "agent", deps=["n_a"], arguments={"goal": literal("find it"), "given": result_of("n_a")})
    report = node("report", "write_report", deps=["search"], arguments={"sources": results_of("search")})
    async with agent_stage(client, [plan(node("n_a", "a"), search, report)], [call("b"), "it is B"]) as (it, _):
        handle = await it.start(allow_agents=True)
        await asyncio.wait_for(handle.result(), 60)
        return handle


def agent_of(plans: list[Any], script: Script, outcomes: dict[str, list[Outcome]]) -> Story:
    """Return a story of plans with agents that runs to its end."""

    async def story(client: Client) -> WorkflowHandle[Any, Any]:
        async with agent_stage(client, plans, script, outcomes) as (it, _):
            handle = await it.start(allow_agents=True)
            await asyncio.wait_for(handle.result(), 60)
            return handle

    return story


def _sends(goal: str) -> Plan:
    return reported(agent(goal), node("n_b", "b", deps=["search"]))


def _calls_until_asked(place: int, request: ModelRequest) -> Move:
    return "as far as I know" if request.must_answer else call("a")


def _many_steps(place: int, _: ModelRequest) -> Move:
    return call("abcd"[place % 4]) if place < 12 else "done"


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
    "loop_completed": loop_of(
        [[("a", {}), ("remember", {"key": "k", "value": "v"})], call("recall", key="k"), "It is A."]
    ),
    "loop_feedback": loop_of([call("Search "), call("b"), "no"], outcomes={"b": [MISSING]}),
    "loop_hint_then_answer": loop_of([call("a"), call("a"), "It is A."]),
    "loop_no_progress": loop_of(_calls_until_asked),
    "loop_summarised": loop_of(
        _many_steps,
        outcomes={name: [f"{name} {number} " + "word " * 300 for number in range(9)] for name in "abcd"},
        loop={"soft_context_tokens": 1500, "hard_context_tokens": 1600},
    ),
    "loop_continued": loop_of(_many_steps, outcomes={name: list(range(9)) for name in "abcd"}),
    "loop_cancelled": cancelled_loop,
    "loop_cancelled_while_asked": loop_cancelled_while_asked,
    "plan_with_agent": plan_with_agent,
    "replan_after_agent_wrote": agent_of(
        [_sends("send it"), _sends("see that it is sent")],
        [call("write"), "it is sent", call("write"), "it was sent before"],
        {"b": [MISSING, "found"]},
    ),
    "agent_run_again": agent_of([reported(agent("find it"))], [call("b"), BUSY, BUSY, BUSY, call("b"), "it is B"], {}),
    "continued_through_pages": run_of(wide(14), outcomes={"a": ["x" * 9000]}, max_concurrency=1),
}
