"""A plan goes on in another workflow run when the history is long enough, and loses nothing on the way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from activities.artifact_folders import Owner
from activities.artifact_place import find_place
from activities.artifacts import ArtifactStore
from activities.toolkit import ToolContext, Toolkit, tool
from harness.budget import Extension, Limits
from harness.catalog import Effect
from harness.errors import ErrorCode, ToolError
from harness.guardrail import Guardrail
from harness.plan import Plan
from harness.run import RunStatus
from harness.schedule import NodeStatus
from harness.trace import TraceKind
from tests.builders import node, plan, result_of, results_of
from tests.replay.histories import fetch_chain
from tests.stage import ScriptedTools, extend_twice, patient, stage, trace_of
from tests.temporal_server import dev_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUGGESTED_EVENTS = 60
LIMITS = Limits(max_tool_calls=500)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def impatient() -> AsyncIterator[Client]:
    """Return a client of a server that soon suggests to continue as new."""
    async with dev_server(f"limit.historyCount.suggestContinueAsNew={SUGGESTED_EVENTS}") as environment:
        yield environment.client


def wide(width: int, tool: str = "a") -> Plan:
    """Return `width` nodes beside each other, and a report on all of them."""
    ids = [f"n{number}" for number in range(width)]
    report = node("report", "write_report", deps=ids, arguments={"sources": results_of(*ids)})
    return plan(*(node(node_id, tool) for node_id in ids), report)


def with_save(tools: ScriptedTools) -> Toolkit:
    """Return the stage's toolkit with a WRITE and a READ that take a text."""

    @tool(effect=Effect.WRITE)
    async def save(text: str, context: ToolContext) -> Any:
        """Save a text."""
        return await tools.play("save", context)

    @tool()
    async def look(text: str, context: ToolContext) -> Any:
        """Look at a text."""
        return await tools.play("look", context)

    kit = tools.toolkit()
    return replace(kit, tools=(*kit.tools, save, look))


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - what it waits for has no event
            await asyncio.sleep(0.005)


async def test_every_node_runs_once_and_the_report_has_every_result(impatient: Client) -> None:
    async with stage(impatient, wide(60)) as it:
        handle = await it.start(run_id="wide-60", limits=LIMITS)
        result = await asyncio.wait_for(handle.result(), 60)
        runs = len(await fetch_chain(it.client, handle))
        trace = await trace_of(result)

    assert result.status is RunStatus.SUCCEEDED
    assert runs > 1
    assert it.tools.count("a") == 60
    assert result.report == f"WRITE_REPORT from {['A'] * 60}"
    assert [report.status for report in result.plan] == [NodeStatus.DONE] * 61
    assert result.budget.tool_calls == 61
    continued = sum(event.kind is TraceKind.RUN_CONTINUE for event in trace)
    assert continued == runs - 1
    assert len(trace) - continued == 2 * 61 + 6
    assert result.guardrails == (Guardrail.INJECTION, Guardrail.PII, Guardrail.JSON)
    assert [event.timestamp for event in trace] == sorted(event.timestamp for event in trace)


async def test_failures_retries_and_skips_survive(impatient: Client) -> None:
    lost = ToolError(ErrorCode.TOOL_EXECUTION_FAILED, "broken")
    slow = ToolError(ErrorCode.RATE_LIMITED, "later", retry_after_s=0.001)
    ids = [f"n{number}" for number in range(40)]
    drawn = plan(
        node("bad", "b"),
        node("after_bad", "a", deps=["bad"]),
        node("shaky", "c"),
        *(node(node_id, "a") for node_id in ids),
        node("report", "write_report", deps=["after_bad", "shaky", *ids], arguments={"sources": results_of("shaky")}),
    )
    async with stage(impatient, drawn, outcomes={"b": [lost], "c": [slow, "C"]}) as it:
        handle = await it.start(run_id="failing", limits=LIMITS)
        result = await asyncio.wait_for(handle.result(), 60)
        runs = len(await fetch_chain(it.client, handle))

    statuses = {report.node.id: report.status for report in result.plan}
    assert result.status is RunStatus.FAILED_EXECUTION
    assert runs > 1
    assert (statuses["bad"], statuses["after_bad"]) == (NodeStatus.FAILED, NodeStatus.SKIPPED)
    assert statuses["report"] is NodeStatus.SKIPPED
    assert {statuses[node_id] for node_id in ids} == {NodeStatus.DONE}
    assert {report.node.id: report.tries for report in result.plan}["shaky"] == 2
    assert it.tools.count("a") == 40
    assert result.budget.tool_calls == 43


async def test_a_replan_after_it_reuses_what_was_done_before_it(impatient: Client) -> None:
    more = ToolError(ErrorCode.MISSING_INFO, "look elsewhere")
    first = plan(
        *(node(f"n{number}", "a") for number in range(40)),
        node("write", "write"),
        node("last", "b", deps=[f"n{number}" for number in range(40)]),
        node("report", "write_report", deps=["last", "write"], arguments={"sources": results_of("last", "write")}),
    )
    second = plan(
        node("again", "a"),
        node("write", "write"),
        node("report", "write_report", deps=["again", "write"], arguments={"sources": results_of("again", "write")}),
    )
    async with stage(impatient, first, second, outcomes={"b": [more]}) as it:
        handle = await it.start(run_id="replanned", limits=LIMITS)
        result = await asyncio.wait_for(handle.result(), 60)

    assert result.status is RunStatus.SUCCEEDED
    assert [report.reused for report in result.plan] == [True, True, False]
    assert it.tools.count("a") == 40
    assert it.tools.count("write") == 1
    assert len(result.attempts) == 1
    assert len(result.attempts[0].nodes) == 43


@pytest.mark.parametrize("size", [10, 20_000])
async def test_equal_writes_of_one_plan_are_all_made(impatient: Client, size: int) -> None:
    """Only another attempt may take a result for an equal call, however long the history is in between."""
    reads = [node(f"n{number}", "b", deps=["w1"]) for number in range(30)]
    drawn = plan(
        node("text", "a"),
        node("w1", "save", deps=["text"], arguments={"text": result_of("text")}),
        *reads,
        node("w2", "save", deps=[read.id for read in reads] + ["text"], arguments={"text": result_of("text")}),
        node("report", "write_report", deps=["w2"], arguments={"sources": results_of("w2")}),
    )
    async with stage(impatient, drawn, outcomes={"a": ["x" * size]}, toolkit=with_save) as it:
        handle = await it.start(run_id=f"equal-writes-{size}", limits=LIMITS)
        result = await asyncio.wait_for(handle.result(), 60)
        runs = len(await fetch_chain(it.client, handle))

    assert result.status is RunStatus.SUCCEEDED
    assert runs > 1
    assert it.tools.count("save") == 2
    assert not any(report.reused for report in result.plan)


async def test_a_branch_below_a_reused_node_survives_the_failure_above_it(impatient: Client) -> None:
    ids = [f"n{number}" for number in range(40)]
    missing = ToolError(ErrorCode.MISSING_INFO, "look elsewhere")

    def drawn(*, gate_of_b: list[str], late: str) -> Plan:
        return plan(
            node("gate", "c"),
            node("b", "b", deps=gate_of_b),
            *(node(node_id, "a", deps=["b"]) for node_id in ids),
            node(late, "d", deps=ids),
            node("report", "write_report", deps=["gate", late], arguments={"sources": results_of(late)}),
        )

    outcomes = {"c": [ToolError(ErrorCode.TOOL_EXECUTION_FAILED, "broken")], "d": [missing, "D"]}
    first = plan(
        node("b", "b"),
        node("d", "d"),
        node("report", "write_report", deps=["b", "d"], arguments={"sources": results_of("d")}),
    )
    async with stage(impatient, first, drawn(gate_of_b=["gate"], late="late"), outcomes=outcomes) as it:
        handle = await it.start(run_id="branch", limits=LIMITS)
        result = await asyncio.wait_for(handle.result(), 60)

    statuses = {report.node.id: report.status for report in result.plan}
    assert (statuses["gate"], statuses["b"]) == (NodeStatus.FAILED, NodeStatus.DONE)
    assert {statuses[node_id] for node_id in [*ids, "late"]} == {NodeStatus.DONE}


async def test_a_replan_through_pages_pays_for_nothing_again(impatient: Client) -> None:
    """Results of 3 KB are inside messages at first, and in the store after the replan."""
    reads = [node(f"r{number}", "a", deps=[f"r{number - 1}"] if number else []) for number in range(30)]
    looked = node("looked", "look", deps=["r0"], arguments={"text": result_of("r0")})
    last = node("report", "write_report", deps=["late", "looked"], arguments={"sources": results_of("late", "looked")})
    drawn = plan(*reads, looked, node("late", "b", deps=[reads[-1].id]), last)
    outcomes: dict[str, list[Any]] = {"a": ["x" * 3000], "b": [ToolError(ErrorCode.MISSING_INFO, "more"), "B"]}
    async with stage(impatient, drawn, drawn, outcomes=outcomes, toolkit=with_save) as it:
        handle = await it.start(run_id="through-pages", limits=LIMITS, max_concurrency=2)
        result = await asyncio.wait_for(handle.result(), 60)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert it.tools.count("look") == 1
    assert [report.node.id for report in result.plan if not report.reused] == ["late", "report"]


async def test_a_plan_after_a_replan_through_pages_goes_on_as_well(impatient: Client) -> None:
    ids = [f"n{number}" for number in range(40)]
    first = plan(
        *(node(node_id, "a") for node_id in ids),
        node("late", "b", deps=ids),
        node("report", "write_report", deps=["late"], arguments={"sources": results_of("late")}),
    )
    again = plan(
        *(node(node_id, "c") for node_id in ids),
        node("report", "write_report", deps=ids, arguments={"sources": results_of(*ids)}),
    )
    outcomes: dict[str, list[Any]] = {"a": ["x" * 3000], "b": [ToolError(ErrorCode.MISSING_INFO, "more")]}
    async with stage(impatient, first, again, outcomes=outcomes) as it:
        handle = await it.start(run_id="pages-then-pages", limits=LIMITS, max_concurrency=2)
        result = await asyncio.wait_for(handle.result(), 60)
        trace = await trace_of(result)

    assert result.status is RunStatus.SUCCEEDED
    assert it.tools.count("c") == 40
    assert {event.attempt for event in trace if event.kind is TraceKind.RUN_CONTINUE} == {0, 1}


async def test_messages_around_it_are_applied_once_each_in_order(impatient: Client) -> None:
    sent = asyncio.Event()

    async def nap(context: ToolContext) -> str:
        await (sent.wait() if context.node_id == "n119" else asyncio.sleep(0.02))
        return "A"

    async with stage(impatient, wide(120), outcomes={"a": [nap]}, toolkit=patient) as it:
        handle = await it.start(run_id="messages", limits=LIMITS, max_concurrency=4)
        for number in range(29):
            await until(lambda least=4 * number: it.tools.count("a") >= least)
            await extend_twice(handle, Extension(message_id=f"m{number}", tool_calls=1))
        sent.set()
        result = await asyncio.wait_for(handle.result(), 60)
        runs = len(await fetch_chain(it.client, handle))
        trace = await trace_of(result)

    applied = [event.data["message_id"] for event in trace if event.kind is TraceKind.BUDGET_EXTEND]
    assert result.status is RunStatus.SUCCEEDED
    assert runs > 3
    assert applied == [f"m{number}" for number in range(29)]
    assert result.budget.max_tool_calls == 529


@pytest.mark.parametrize("cached", [0, 1000])
async def test_large_state_goes_through_pages(impatient: Client, cached: int) -> None:
    texts = [str(number % 10) * 15_000 for number in range(60)]
    async with stage(impatient, wide(60), outcomes={"a": texts}, max_cached_workflows=cached) as it:
        run_id = f"pages-{cached}"
        handle = await it.start(run_id=run_id, limits=LIMITS, max_concurrency=1)
        result = await asyncio.wait_for(handle.result(), 60)
        runs = await fetch_chain(it.client, handle)
        trace = await trace_of(result)

    assert result.status is RunStatus.SUCCEEDED
    assert result.report == f"WRITE_REPORT from {texts}"
    assert len(runs) > 2
    kept = [event for run in runs for event in run.events if _is_keeping(event)]
    assert len(kept) >= 1
    assert len([event for event in trace if event.kind is TraceKind.NODE_FINISH]) == 61
    inputs = [run.events[0].workflow_execution_started_event_attributes.input.ByteSize() for run in runs]
    assert max(inputs) < 512_000


class Moody(ArtifactStore):
    """A store that refuses some calls, for good."""

    def __init__(self, *, puts: int = 0, waits: asyncio.Event | None = None) -> None:
        super().__init__(find_place("memory://"))
        self.puts = puts
        self.waits = waits
        self.asked = asyncio.Event()

    async def put(self, owner: Owner, data: bytes) -> str:
        if self.puts:
            self.puts -= 1
            raise ToolError(ErrorCode.AUTHENTICATION, "the key is wrong")
        return await super().put(owner, data)

    async def get(self, owner: Owner, digest: str) -> bytes:
        self.asked.set()
        if self.waits is not None:
            await self.waits.wait()
        return await super().get(owner, digest)


async def test_a_plan_whose_state_cannot_be_kept_goes_on_where_it_is(impatient: Client) -> None:
    store = Moody(puts=1)
    async with stage(impatient, wide(60), outcomes={"a": ["x" * 15_000]}, store=store) as it:
        handle = await it.start(run_id="moody", limits=LIMITS, max_concurrency=1)
        result = await asyncio.wait_for(handle.result(), 60)
        runs = len(await fetch_chain(it.client, handle))

    told = [(event.status, event.message) for event in result.trace if event.kind is TraceKind.RUN_CONTINUE]
    assert result.status is RunStatus.SUCCEEDED
    assert runs == 1
    assert it.tools.count("a") == 60
    assert [status for status, _ in told] == ["STARTED", "FAILED"]
    assert "the key is wrong" in (told[1][1] or "")
    assert result.budget.tool_calls == 61


async def test_a_cancel_while_the_state_is_loaded_keeps_what_was_found(impatient: Client) -> None:
    store = Moody(waits=asyncio.Event())
    async with stage(impatient, wide(60), outcomes={"a": ["x" * 15_000]}, store=store) as it:
        handle = await it.start(run_id="loading", limits=LIMITS, max_concurrency=1)
        await asyncio.wait_for(store.asked.wait(), 30)
        await handle.cancel()
        assert store.waits is not None
        store.waits.set()
        result = await asyncio.wait_for(handle.result(), 30)

    assert result.status is RunStatus.CANCELLED
    assert len(result.plan) == 61
    assert sum(report.status is NodeStatus.DONE for report in result.plan) == it.tools.count("a") > 5


async def test_a_cancel_in_between_ends_the_run(impatient: Client) -> None:
    async with stage(impatient, wide(200)) as it:
        handle = await it.start(run_id="cancelled", limits=LIMITS)
        await until(lambda: it.tools.count("a") > SUGGESTED_EVENTS)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is RunStatus.CANCELLED
    assert result.budget.tool_calls == it.tools.count("a")


def _is_keeping(event: object) -> bool:
    return event.activity_task_scheduled_event_attributes.activity_type.name == "keep_state"  # type: ignore[attr-defined]
