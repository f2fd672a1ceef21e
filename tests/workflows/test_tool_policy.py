"""What the policy of a tool changes in a run, as far as no other file tells it of one field."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from activities.toolkit import ToolContext, Toolkit, tool
from harness.calls import ToolRequest
from harness.catalog import Backoff, Effect
from harness.errors import ErrorCode, ToolError
from harness.run import RunStatus
from harness.schedule import NodeStatus
from harness.trace import TraceKind
from tests.replay.histories import fetch_chain
from tests.stage import ScriptedTools, fan_in, stage
from workflows.data_converter import DATA_CONVERTER

pytestmark = pytest.mark.asyncio(loop_scope="session")

LATE = ToolError(ErrorCode.TIMEOUT, "no answer in time")
SLOW = Backoff(first=timedelta(seconds=20), limit=timedelta(seconds=30))


def policed(**policy: Any) -> Any:
    return lambda tools: tools.toolkit(**policy)


async def test_a_failed_try_waits_as_the_tool_says(time_skipping: WorkflowEnvironment) -> None:
    kit = policed(backoff=SLOW)
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [LATE, LATE, "found"]}, toolkit=kit) as it:
        result = await it.run(limits={"max_wall_clock": timedelta(minutes=10)})

    start = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_START)
    end = next(e.timestamp for e in result.trace if e.kind is TraceKind.NODE_FINISH)
    assert result.status is RunStatus.SUCCEEDED
    assert timedelta(seconds=0.8 * 20 + 0.8 * 30) <= end - start <= timedelta(seconds=1.2 * 20 + 30 + 3)


async def test_a_tool_has_as_many_tries_as_it_says(time_skipping: WorkflowEnvironment) -> None:
    kit = policed(max_tries=5, backoff=Backoff(first=timedelta(milliseconds=10)))
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [LATE]}, toolkit=kit) as it:
        await it.run(max_run_retries=0, max_replans=0)

    assert it.tools.count("a") == 5


async def test_a_tool_is_given_up_after_the_time_it_says(client: Client) -> None:
    async def hang(_: object) -> str:
        await asyncio.sleep(30)
        return "late"

    kit = policed(timeout=timedelta(seconds=0.2), max_tries=1)
    async with stage(client, fan_in("a"), outcomes={"a": [hang]}, toolkit=kit) as it:
        result = await it.run(max_run_retries=0, max_replans=0, within=10)

    assert result.error_code is ErrorCode.TIMEOUT
    assert "a took longer than 0.2 s" in (result.error or "")


SIZES = {"the tool's": (1_000, 1_000_000, "1,000"), "the run's": (1_000_000, 2_000, "2,000")}


@pytest.mark.parametrize(("of_tool", "of_run", "told"), SIZES.values(), ids=SIZES)
async def test_the_smaller_limit_bounds_a_result(client: Client, of_tool: int, of_run: int, told: str) -> None:
    kit = policed(max_result_bytes=of_tool)
    async with stage(client, fan_in("a"), outcomes={"a": ["x" * 3000]}, toolkit=kit) as it:
        result = await it.run(max_result_bytes=of_run, max_replans=0)

    assert result.error_code is ErrorCode.PAYLOAD_TOO_LARGE
    assert f"the limit is {told}" in (result.error or "")


async def test_usual_limits_cost_nothing_in_history(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        handle = await it.start()
        await asyncio.wait_for(handle.result(), 20)
        (history,) = await fetch_chain(client, handle)

    scheduled = [e.activity_task_scheduled_event_attributes for e in history.events]
    (request,) = [a.input.payloads[0] for a in scheduled if a.activity_type.name == "a"]
    (sent,) = DATA_CONVERTER.payload_converter.from_payloads([request], [ToolRequest])
    assert sent.model_dump(exclude_unset=True) == {}


async def test_a_plain_function_learns_that_its_run_was_cancelled(client: Client) -> None:
    started, stopped = threading.Event(), threading.Event()

    def with_patient(tools: ScriptedTools) -> Toolkit:
        @tool(timeout=timedelta(seconds=30))
        def wait_long(context: ToolContext) -> str:
            """Wait for long."""
            started.set()
            if context.cancelled.wait(20) and context.is_cancelled:
                stopped.set()
            return "ended"

        kit = tools.toolkit()
        return replace(kit, tools=(*kit.tools, wait_long))

    async with stage(client, fan_in("wait_long"), toolkit=with_patient) as it:
        handle = await it.start()
        assert await asyncio.to_thread(started.wait, 10)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 15)
        assert await asyncio.to_thread(stopped.wait, 5)

    assert result.status is RunStatus.CANCELLED
    assert result.plan[0].status is NodeStatus.CANCELLED


async def test_a_key_outlives_tries_and_run_retries_and_no_two_tries_share_an_id(
    time_skipping: WorkflowEnvironment,
) -> None:
    seen: list[tuple[str, str, int]] = []

    async def fail(context: ToolContext) -> str:
        seen.append((context.idempotency_key, context.try_id, context.try_number))
        raise LATE

    kit = policed(effect=Effect.IDEMPOTENT_WRITE, max_tries=2)
    async with stage(time_skipping.client, fan_in("a"), outcomes={"a": [fail]}, toolkit=kit) as it:
        await it.run(max_run_retries=1, max_replans=0)

    assert [number for *_, number in seen] == [1, 2, 1, 2]
    assert len({key for key, *_ in seen}) == 1
    assert len({try_id for _, try_id, _ in seen}) == 4
