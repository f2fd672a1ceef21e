"""Nothing waits for a wave: a follow-up starts the moment its own branch is done."""

import asyncio

import pytest
from temporalio.client import Client

from harness.run import RunStatus
from harness.trace import TraceKind
from tests.builders import node, plan, results_of
from tests.stage import ScriptedTools, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

BRANCHES_MS = {"r120": 120, "r180": 180, "r700": 700, "r900": 900}
FOLLOW_UP_MS = 100
CRITICAL_PATH_MS = 900 + FOLLOW_UP_MS


def lasting(milliseconds: int) -> object:
    async def work(_: object) -> str:
        await asyncio.sleep(milliseconds / 1000)
        return f"after {milliseconds} ms"

    return work


async def test_follow_ups_start_before_the_slowest_root_ends(client: Client) -> None:
    roots = list(BRANCHES_MS)
    follow_ups = [f"f{root[1:]}" for root in roots]
    branches = plan(
        *(node(root, root) for root in roots),
        *(node(after, after, deps=[root]) for root, after in zip(roots, follow_ups, strict=True)),
        node("report", "write_report", deps=follow_ups, arguments={"sources": results_of(*follow_ups)}),
    )
    outcomes = {root: [lasting(ms)] for root, ms in BRANCHES_MS.items()}
    outcomes |= {after: [lasting(FOLLOW_UP_MS)] for after in follow_ups}

    def kit(tools: ScriptedTools) -> object:
        return tools.toolkit([*roots, *follow_ups])

    async with stage(client, branches, outcomes=outcomes, toolkit=kit) as it:  # type: ignore[arg-type]
        await it.run(goal="warm up")
        it.tools.calls.clear()
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    slowest_ended = it.tools.ended["r900"]
    started = {call.node_id: call.started for call in it.tools.calls}
    assert all(started[after] < slowest_ended for after in follow_ups if after != "f900")
    start = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_START)
    end = next(e.timestamp for e in result.trace if e.kind is TraceKind.EXECUTION_FINISH)
    makespan_ms = (end - start).total_seconds() * 1000
    assert makespan_ms <= 1.35 * CRITICAL_PATH_MS


async def test_no_more_nodes_run_at_once_than_asked_for(client: Client) -> None:
    running, most = 0, 0

    async def count(_: object) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return "done"

    reads = [node(f"n{i}", "a") for i in range(12)]
    wide = plan(
        *reads,
        node(
            "report",
            "write_report",
            deps=[r.id for r in reads],
            arguments={"sources": results_of(*(r.id for r in reads))},
        ),
    )
    async with stage(client, wide, outcomes={"a": [count]}) as it:
        await it.run(max_concurrency=3)

    assert most == 3
