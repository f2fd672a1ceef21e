"""Long agent loops: history grows linearly, every workflow run stays small, and nothing is lost on the way."""

import asyncio
import os
from dataclasses import dataclass
from typing import Any

import pytest
from temporalio.client import Client

from activities.model.request import ModelRequest
from harness.loop import LoopResult, LoopStatus
from tests.loop_stage import LoopStage, Move, call, loop_stage, steps_of
from tests.replay.histories import failed_tasks, fetch_chain

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

IS_LONG = bool(os.environ.get("WHIPPLETREE_SLOW_TESTS"))
FEW, MANY = (100, 400) if IS_LONG else (15, 60)
MOST = 500 if IS_LONG else 60
RESULT_CHARS = 20_000


@dataclass(frozen=True)
class Long:
    """A loop of many steps, and what its history takes."""

    result: LoopResult
    events: list[int]
    """Of each workflow run of the chain."""
    sizes: list[int]
    """Bytes of each."""


def steps(number: int) -> Any:
    def script(place: int, request: ModelRequest) -> Move:
        return call("a") if place < number and not request.must_answer else "all seen"

    return script


async def large(context: Any) -> str:
    """Return 20 KB that differ at each step; the first one has a word that stands nowhere else."""
    first = "FIRST-TOKEN " if context.node_id == "1.1" else ""
    return f"{first}result of {context.node_id}: " + f"{context.node_id} words " * (RESULT_CHARS // 12)


async def run_long(it: LoopStage, number: int, **options: Any) -> Long:
    chosen = {
        "loop": {"max_steps": number + 10},
        "limits": {
            "max_tokens": 100_000_000,
            "max_tool_calls": 10_000,
            "max_cost_usd": 1000,
            "max_wall_clock": 3600,
        },
    }
    handle = await it.start(**(chosen | options))
    result = await asyncio.wait_for(handle.result(), 540)
    chain = await fetch_chain(it.client, handle)
    assert await failed_tasks(handle) == 0
    sizes = [sum(event.ByteSize() for event in history.events) for history in chain]
    return Long(result, [len(history.events) for history in chain], sizes)


@pytest.mark.timeout(600)
async def test_many_steps_of_large_results_complete_and_no_workflow_run_is_large(client: Client) -> None:
    async with loop_stage(client, steps(MOST), outcomes={"a": [large]}) as it:
        long = await run_long(it, MOST)
        records = await steps_of(long.result)

    print(f"{MOST} steps: events {long.events}, bytes {long.sizes}, {sum(long.sizes) / MOST:.0f} bytes a step")
    assert long.result.status is LoopStatus.COMPLETED
    assert [record.number for record in records] == list(range(1, MOST + 1))
    assert all(record.success for record in records)
    assert max(long.events) <= 12_000
    assert max(long.sizes) <= 10_000_000
    assert long.result.budget.tool_calls == MOST == it.tools.count("a")


@pytest.mark.timeout(600)
async def test_history_grows_linearly_with_the_steps(client: Client) -> None:
    async with loop_stage(client, steps(FEW), outcomes={"a": [large]}) as it:
        few = await run_long(it, FEW)
    async with loop_stage(client, steps(MANY), outcomes={"a": [large]}) as it:
        many = await run_long(it, MANY)

    print(f"{FEW} steps: {sum(few.sizes)} bytes, {MANY} steps: {sum(many.sizes)} bytes")
    assert sum(many.sizes) <= 4.2 * sum(few.sizes)


@pytest.mark.timeout(300)
async def test_a_loop_on_a_large_context_keeps_what_it_saw_first(client: Client) -> None:
    given = {"context": "background " * 27_000}

    async with loop_stage(client, steps(60), outcomes={"a": [large]}) as it:
        long = await run_long(it, 60, given=given)

    last = it.model.requests[-1]
    told = "\n".join([last.system, last.user, *(message.text for message in last.messages)])
    assert long.result.status is LoopStatus.COMPLETED
    assert "FIRST-TOKEN" in told
    assert max(long.sizes) < 10_000_000
    assert max(long.events) < 10_000
