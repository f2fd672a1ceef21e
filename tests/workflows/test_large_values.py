"""No value of whatever size ends or stalls a run without a typed reason (PITFALLS A1)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from temporalio.client import Client

from activities.toolkit import tool
from harness.budget import Limits
from harness.errors import ErrorClass, ErrorCode, ToolError
from harness.run import RunStatus
from harness.trace import TraceKind
from harness.verification import PASSED, Verdict
from tests.builders import literal, node, plan, result_of, results_of
from tests.replay.histories import failed_tasks, fetch_chain
from tests.stage import fan_in, patient, stage, trace_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEGABYTE = 1_000_000


async def test_a_result_of_3_mb_is_passed_on_by_reference(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": ["x" * 3_000_000], "write_report": [measure]}) as it:
        handle = await it.start(max_replans=0)
        result = await asyncio.wait_for(handle.result(), 15)
        (history,) = await fetch_chain(client, handle)

    assert it.tools.count("a") == 1
    assert result.status is RunStatus.SUCCEEDED
    assert len(result.report or "") > 3_000_000
    assert sum(event.ByteSize() for event in history.events) < 50_000


async def measure(_: object) -> str:
    return "report"


async def test_an_oversized_result_fails_its_node_once_naming_node_size_and_limit(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": ["x" * 3_000_000]}) as it:
        result = await it.run(max_replans=0, max_result_bytes=262_144, within=15)

    assert it.tools.count("a") == 1
    assert result.error_code is ErrorCode.PAYLOAD_TOO_LARGE
    assert "n_a" in (result.error or "")
    assert "3,000,002" in (result.error or "")
    assert "262,144" in (result.error or "")


async def test_an_error_text_of_3_mb_is_bounded(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [RuntimeError("y" * 3_000_000)]}) as it:
        result = await it.run(max_replans=0, within=15)

    assert it.tools.count("a") == 1
    assert result.error_code is ErrorCode.TOOL_EXECUTION_FAILED
    assert len(result.error or "") < 5000


async def test_twenty_large_arguments_at_once_do_not_terminate_the_run(client: Client) -> None:
    """20 nodes that each pass on 250 KB: their commands together would exceed what one task may hold."""
    reads = [node("big", "a")]
    copies = [node(f"c{i}", "copy", deps=["big"], arguments={"value": result_of("big")}) for i in range(20)]
    last = node("report", "write_report", deps=[c.id for c in copies], arguments={"sources": literal("[]")})
    async with stage(client, plan(*reads, *copies, last), outcomes={"a": ["x" * 250_000]}, toolkit=with_copy) as it:
        result = await it.run(max_concurrency=50, within=60)

    assert result.status is RunStatus.SUCCEEDED


def with_copy(tools: Any) -> Any:
    """Return the stage's toolkit with a tool that takes any value and returns its length."""

    @tool()
    async def copy(value: str) -> int:
        """Return the length of a text."""
        return len(value)

    kit = tools.toolkit()
    return replace(kit, tools=(*kit.tools, copy))


def with_numbered(tools: Any) -> Any:
    """Return the stage's toolkit with tools that give 100 KB, or fail with a long text, for each number."""

    @tool()
    async def big(number: int) -> str:
        """Return 100 KB."""
        return f"{number}" + "x" * 100_000

    @tool()
    async def bad(number: int) -> str:
        """Ask for what is missing, at length, in characters that travel as six bytes each."""
        raise ToolError(ErrorCode.MISSING_INFO, f"{number}" + "\x01" * 3000)

    kit = tools.toolkit()
    return replace(kit, tools=(*kit.tools, big, bad))


async def test_a_wide_plan_that_fails_at_length_again_and_again_ends_with_its_status(client: Client) -> None:
    """300 nodes, 3 MB of results and 1.2 MB of errors an attempt: more than one message holds, three times."""
    reads = [node(f"big{i}", "big", arguments={"number": literal(f"{i}")}) for i in range(30)]
    reads += [node(f"bad{i}", "bad", arguments={"number": literal(f"{i}")}) for i in range(100)]
    reads += [node(f"skipped{i}", "a", deps=[f"bad{i % 100}"]) for i in range(169)]
    ids = [read.id for read in reads]
    last = node("report", "write_report", deps=ids, arguments={"sources": results_of(*ids)})
    async with stage(client, plan(*reads, last), toolkit=with_numbered) as it:
        limits = Limits(max_tool_calls=5000, max_tokens=10_000_000, max_cost_usd=Decimal(1000))
        handle = await it.start(max_replans=2, max_concurrency=50, limits=limits)
        result = await asyncio.wait_for(handle.result(), 60)
        chain = await fetch_chain(client, handle)
        trace = await trace_of(result)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_class is ErrorClass.MISSING_INFO
    assert "and 50 more failed nodes" in (result.error or "")
    assert len(result.plan) == 300
    assert [len(attempt.nodes) + attempt.nodes_dropped for attempt in result.attempts] == [300, 300]
    assert result.trace_dropped == 0
    assert trace[0].kind is TraceKind.RUN_START
    assert sum(event.kind is TraceKind.NODE_FAIL for event in trace) == 3 * 100
    assert sum(event.kind is TraceKind.NODE_REUSE for event in trace) == 2 * 30
    assert len(chain) == 3
    assert not any(e.HasField("workflow_task_failed_event_attributes") for run in chain for e in run.events)
    assert any(node.reused for node in result.plan)


def with_verdict(verdict: Verdict) -> Callable[[Any], Any]:
    """Return the stage's toolkit with numbered tools and a rule that always gives this verdict."""
    return with_rule(lambda *_: verdict)


def with_rule(rule: Callable[..., Verdict]) -> Callable[[Any], Any]:
    """Return the stage's toolkit with numbered tools and a rule for reports."""
    return lambda tools: replace(with_numbered(tools), verify=rule)


async def test_a_report_with_more_sources_than_a_message_holds_is_verified_all_the_same(client: Client) -> None:
    checked: list[int] = []

    def check(_goal: str, _report: Any, results: dict[str, Any]) -> Verdict:
        checked.extend(map(len, results["big"]))
        return PASSED

    reads = [node(f"big{i}", "big", arguments={"number": literal(f"{i}")}) for i in range(25)]
    last = node("report", "write_report", deps=[read.id for read in reads], arguments={"sources": literal("[]")})
    kit = with_rule(check)
    async with stage(client, plan(*reads, last), toolkit=kit) as it:
        result = await it.run(max_concurrency=25, within=15)

    assert result.status is RunStatus.SUCCEEDED
    assert checked == [100_000 + len(str(i)) for i in range(25)]


async def test_a_verdict_of_any_length_is_bounded_before_it_is_kept(client: Client) -> None:
    endless = Verdict(outcome="REJECTED", reasons=("no" * 1000,) * 500)
    async with stage(client, fan_in("a"), toolkit=with_verdict(endless)) as it:
        result = await it.run(max_replans=1, within=15)

    assert result.status is RunStatus.FAILED_VERIFICATION
    assert result.verdict is not None
    assert len(result.verdict.reasons) == 20
    assert result.verdict.reasons[-1] == "and 481 more reasons"
    assert len(it.tools.calls[-1].feedback) < 20 * 502


async def test_a_catalog_too_large_for_a_planner_fails_the_run_by_name(client: Client) -> None:
    async with stage(
        client, fan_in("a"), toolkit=lambda tools: replace(tools.toolkit(), guidance="g" * 1_900_000)
    ) as it:
        result = await it.run(within=10)

    assert result.status is RunStatus.FAILED_PLANNING
    assert result.error_code is ErrorCode.PAYLOAD_TOO_LARGE
    assert "'stage'" in (result.error or "")
    assert it.model.requests == []


async def test_a_reason_of_1_mb_cancels_a_run_like_any_other(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [lambda _: asyncio.sleep(30)]}, toolkit=patient) as it:
        handle = await it.start()
        await handle.cancel(reason="why" * 300_000)
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is RunStatus.CANCELLED
    assert len(result.error or "") <= 2000
    assert result.trace[0].kind is TraceKind.RUN_START
    assert await failed_tasks(handle) == 0


async def test_many_medium_results_taken_by_several_nodes_do_not_stall_the_workflow(client: Client) -> None:
    """200 results of 14 KB, each a list of small objects, taken by four nodes: 11 MB to be encoded."""
    reads = [node(f"r{i}", "a") for i in range(200)]
    ids = [read.id for read in reads]
    takers = [node(f"t{i}", "take", deps=ids, arguments={"values": results_of(*ids)}) for i in range(4)]
    last = node("report", "write_report", deps=[t.id for t in takers], arguments={"sources": results_of("t0")})
    small = [{"id": i, "price": i + 0.5} for i in range(600)]
    async with stage(client, plan(*reads, *takers, last), outcomes={"a": [small]}, toolkit=with_take) as it:
        handle = await it.start(limits=Limits(max_tool_calls=1000), max_concurrency=5)
        result = await asyncio.wait_for(handle.result(), 60)

    assert result.status is RunStatus.SUCCEEDED
    assert await failed_tasks(handle) == 0


def with_take(tools: Any) -> Any:
    """Return the stage's toolkit with a tool that counts what it is given."""

    @tool()
    async def take(values: list[Any]) -> int:
        """Count values."""
        return len(values)

    kit = tools.toolkit()
    return replace(kit, tools=(*kit.tools, take))


async def test_arguments_that_would_grow_without_end_fail_their_node_not_the_worker(client: Client) -> None:
    """600 sources of 15 KB each, none of which is large enough to be stored."""
    reads = [node(f"r{i}", "a") for i in range(600)]
    last = node(
        "report", "write_report", deps=[r.id for r in reads], arguments={"sources": results_of(*(r.id for r in reads))}
    )
    async with stage(client, plan(*reads, last), outcomes={"a": ["x" * 15_000]}) as it:
        limits = Limits(max_tool_calls=1000)
        handle = await it.start(limits=limits, max_replans=0, max_plan_nodes=700, max_concurrency=50)
        result = await asyncio.wait_for(handle.result(), 60)

    assert result.error_code is ErrorCode.PAYLOAD_TOO_LARGE
    assert "'report'" in (result.error or "")
    assert "8,388,608" in (result.error or "")
    assert await failed_tasks(handle) == 0
