"""Cancelling a run: work in flight is cancelled and awaited, and the result says so (PITFALLS A8)."""

import asyncio

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from harness.budget import Extension, Limits
from harness.run import RunPhase, RunStatus
from harness.schedule import NodeStatus
from harness.trace import TraceKind
from tests.stage import Stage, fan_in, kinds, patient, stage
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Hanging:
    """A tool that hangs until it is cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, _: object) -> str:
        self.started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "too late"


async def test_a_cancel_reaches_a_running_tool_and_the_run_ends_cancelled(client: Client) -> None:
    hanging = Hanging()
    async with stage(client, fan_in("a", "b"), outcomes={"b": [hanging]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(hanging.started.wait(), 10)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 10)

    assert hanging.cancelled.is_set()
    assert result.status is RunStatus.CANCELLED
    statuses = {n.node.id: n.status for n in result.plan}
    assert statuses == {"n_a": NodeStatus.DONE, "n_b": NodeStatus.CANCELLED, "report": NodeStatus.SKIPPED}
    assert [e.node_id for e in result.trace if e.kind is TraceKind.NODE_FAIL] == ["n_b"]
    assert kinds(result)[-2:] == ["run.cancel", "run.finish"]
    assert result.budget.tool_calls == 2
    assert result.budget.reserved.tool_calls == 0


async def test_a_cancel_while_planning_stops_the_model_call(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        asked, stopped = asyncio.Event(), asyncio.Event()

        async def hang(_: object) -> object:
            asked.set()
            try:
                await asyncio.sleep(60)
            finally:
                stopped.set()

        it.model.ask = hang  # type: ignore[method-assign,assignment]
        handle = await it.start()
        await asyncio.wait_for(asked.wait(), 10)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 10)

    assert stopped.is_set()
    assert result.status is RunStatus.CANCELLED
    assert it.tools.calls == []


@pytest.mark.parametrize(
    ("options", "told"),
    [({}, ["planning.finish"]), ({"max_tools_shown": 3}, ["routing.finish"])],
    ids=["planning", "routing"],
)
async def test_a_model_call_that_a_cancel_stops_is_charged_by_estimate_and_told(
    client: Client, options: dict[str, int], told: list[str]
) -> None:
    async with stage(client, fan_in("a")) as it:
        it.model.hangs = True
        handle = await it.start(**options)
        async with asyncio.timeout(10):
            while not it.model.requests:  # noqa: ASYNC110 - what a scripted model was asked has no event
                await asyncio.sleep(0.02)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 10)

    (asked,) = [event for event in result.trace if event.kind in {"planning.finish", "routing.finish"}]
    assert result.status is RunStatus.CANCELLED
    assert [asked.kind] == told
    assert result.budget.tokens == asked.data["tokens"] > 0
    assert result.budget.estimated
    assert result.budget.reserved.tokens == 0


async def test_two_cancels_are_as_good_as_one(client: Client) -> None:
    hanging = Hanging()
    async with stage(client, fan_in("a"), outcomes={"a": [hanging]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(hanging.started.wait(), 10)
        await handle.cancel()
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 10)

    assert result.status is RunStatus.CANCELLED
    assert kinds(result, "run.cancel", "run.finish") == ["run.cancel", "run.finish"]


async def test_the_state_can_be_asked_while_a_node_runs(client: Client) -> None:
    hanging = Hanging()
    async with stage(client, fan_in("a"), outcomes={"a": [hanging]}, toolkit=patient) as it:
        handle = await it.start(goal="look at me")
        await asyncio.wait_for(hanging.started.wait(), 10)
        view = await handle.query(OrchestratorWorkflow.state)
        events = await handle.query(OrchestratorWorkflow.trace, 2)
        await handle.cancel()
        await asyncio.wait_for(handle.result(), 10)

    assert view.phase is RunPhase.EXECUTING
    assert view.goal == "look at me"
    assert view.nodes[0].status is NodeStatus.RUNNING
    assert events.first == 2
    assert [event.kind for event in events.events] == ["validation.finish", "node.start"]


async def extended(it: Stage, hanging: Hanging, *extensions: Extension) -> list[object]:
    """Send extensions to a run in flight, then cancel it; return the answers and the result."""
    handle = await it.start(limits=Limits(max_tool_calls=10))
    await asyncio.wait_for(hanging.started.wait(), 10)
    answers = [await handle.execute_update(OrchestratorWorkflow.extend, more) for more in extensions]
    await handle.cancel()
    return [*answers, await asyncio.wait_for(handle.result(), 10)]


async def test_an_extension_is_applied_once_however_often_it_is_sent(client: Client) -> None:
    hanging = Hanging()
    more = Extension(message_id="m1", tool_calls=5)
    async with stage(client, fan_in("a"), outcomes={"a": [hanging]}, toolkit=patient) as it:
        first, second, result = await extended(it, hanging, more, more)

    assert first.max_tool_calls == second.max_tool_calls == 15  # type: ignore[attr-defined]
    assert kinds(result, "budget.extend") == ["budget.extend"]  # type: ignore[arg-type]


async def test_a_malformed_extension_is_refused_and_harms_nothing(client: Client) -> None:
    hanging = Hanging()
    async with stage(client, fan_in("a"), outcomes={"a": [hanging]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(hanging.started.wait(), 10)
        for bad in ({"message_id": "x", "tokens": -5}, {}, "more", {"message_id": "x", "surprise": 1}):
            with pytest.raises(WorkflowUpdateFailedError):
                await handle.execute_update("extend", bad)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 10)

    assert result.status is RunStatus.CANCELLED
    assert result.budget.max_tokens == 20_000
