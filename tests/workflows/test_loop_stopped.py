"""A loop that is stopped in the middle of something: what was begun is paid for and told, what was not is told too."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client

from activities.artifact_place import find_place
from activities.artifacts import ArtifactStore
from harness.budget import NOTHING, Limits
from harness.errors import ErrorCode
from harness.loop import LoopResult, LoopStatus
from harness.trace import TraceEvent, TraceKind
from tests.loop_stage import LoopStage, call, loop_stage
from tests.stage import ScriptedTools, patient

pytestmark = pytest.mark.asyncio(loop_scope="session")

LATE = 60.0


def events(result: LoopResult, kind: TraceKind) -> list[TraceEvent]:
    return [event for event in result.trace if event.kind is kind]


async def cancelled_when(it: LoopStage, condition: Callable[[], bool], **options: Any) -> LoopResult:
    """Start a loop, cancel it when the condition holds, and return its result."""
    handle = await it.start(**options)
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what a scripted model was asked has no event
            await asyncio.sleep(0.02)
    await handle.cancel()
    return await asyncio.wait_for(handle.result(), 20)


class Hanging:
    """A tool that hangs until it is cancelled."""

    has_started = False

    async def __call__(self, _: object) -> str:
        self.has_started = True
        await asyncio.sleep(LATE)
        return "late"


async def test_a_cancel_while_the_model_is_asked_is_charged_by_estimate_and_told(client: Client) -> None:
    async with loop_stage(client, [call("a")], delay_s=LATE) as it:
        result = await cancelled_when(it, lambda: bool(it.model.requests))

    (step,) = events(result, TraceKind.STEP_FINISH)
    assert result.status is LoopStatus.CANCELLED
    assert step.status == "FAILED"
    assert result.budget.tokens > 0
    assert result.budget.estimated
    assert step.data["tokens"] == result.budget.tokens == result.usage.total_tokens
    assert result.budget.reserved == NOTHING


async def test_a_cancel_while_a_summary_is_written_is_charged_by_estimate_and_told(client: Client) -> None:
    def script(place: int, _: Any) -> Any:
        return call("abcd"[place % 4])

    outcomes: dict[str, list[Any]] = {
        name: [f"{name} {number} " + "word " * 300 for number in range(9)] for name in "abcd"
    }
    async with loop_stage(client, script, outcomes=outcomes) as it:
        it.model.summary_delay_s = LATE
        result = await cancelled_when(
            it,
            lambda: bool(it.model.summaries),
            loop={"soft_context_tokens": 1500, "hard_context_tokens": 1600},
        )

    (summary,) = events(result, TraceKind.CONTEXT_SUMMARISE)
    assert result.status is LoopStatus.CANCELLED
    assert summary.status == "FAILED"
    assert result.budget.tokens == 150 * len(it.model.requests) + int(str(summary.data["tokens"]))
    assert int(str(summary.data["tokens"])) > 0
    assert result.budget.reserved == NOTHING


class SlowMemory(ArtifactStore):
    """A store that takes facts only after a minute."""

    has_facts = False

    async def put(self, owner: Any, data: bytes) -> str:
        if data.startswith(b'{"port"'):
            self.has_facts = True
            await asyncio.sleep(LATE)
        return await super().put(owner, data)


async def test_a_cancel_of_a_call_of_the_memory_is_charged_and_told(client: Client) -> None:
    store = SlowMemory(find_place("memory://"))
    script = [[("remember", {"key": "port", "value": "8443"}), ("recall", {"key": "port"})]]
    async with loop_stage(client, script, store=store) as it:
        result = await cancelled_when(it, lambda: store.has_facts)

    assert result.status is LoopStatus.CANCELLED
    assert [(step.call, step.success, step.tries) for step in result.steps] == [("1.1", False, 1), ("1.2", False, 0)]
    assert [event.node_id for event in events(result, TraceKind.NODE_FAIL)] == ["1.1"]
    assert result.budget.tool_calls == 1
    assert result.budget.reserved == NOTHING


ALL = [("a", {}), ("b", {}), ("c", {}), ("remember", {"key": "port", "value": "8443"})]


async def test_calls_that_a_cancelled_loop_had_not_started_are_told(client: Client) -> None:
    hanging = Hanging()
    async with loop_stage(client, [ALL], outcomes={"a": [hanging]}, toolkit=patient) as it:
        result = await cancelled_when(it, lambda: hanging.has_started, max_concurrency=1)

    told = {step.call: (step.tries, step.error) for step in result.steps if not step.success}
    assert told.keys() == {"1.1", "1.2", "1.3"}
    assert told["1.2"] == told["1.3"] == (0, "not started: cancelled on request")
    assert [event.data["call"] for event in events(result, TraceKind.CALL_REFUSE)] == ["1.2", "1.3"]
    assert len(it.tools.calls) == 1
    assert result.budget.reserved == NOTHING


async def test_calls_that_a_loop_out_of_time_had_not_started_are_told(client: Client) -> None:
    limits = Limits(max_tokens=100_000, max_wall_clock=timedelta(seconds=2))
    async with loop_stage(client, [ALL], outcomes={"a": [Hanging()]}, toolkit=patient) as it:
        result = await it.run(limits=limits, max_concurrency=1)

    assert result.status is LoopStatus.TIMEOUT
    told = {step.call: (step.tries, step.error, step.error_code) for step in result.steps if not step.success}
    assert told.keys() == {"1.1", "1.2", "1.3"}
    expected = (0, "not started: the wall-clock limit is reached", ErrorCode.TIMEOUT)
    assert told["1.2"] == told["1.3"] == expected
    assert result.budget.reserved == NOTHING


async def test_calls_of_the_memory_that_a_loop_out_of_time_had_not_started_are_told(client: Client) -> None:
    limits = Limits(max_tokens=100_000, max_wall_clock=timedelta(seconds=2))
    script = [[("remember", {"key": "port", "value": "8443"}), ("recall", {"key": "port"}), ("a", {})]]
    async with loop_stage(client, script, store=SlowMemory(find_place("memory://"))) as it:
        result = await it.run(limits=limits)

    assert result.status is LoopStatus.TIMEOUT
    assert sorted((step.call, step.success, step.tries) for step in result.steps) == [
        ("1.1", False, 1),
        ("1.2", False, 0),
        ("1.3", True, 1),
    ]
    assert result.budget.reserved == NOTHING


async def test_a_tool_that_is_out_of_time_is_told_to_the_model(client: Client) -> None:
    def hurried(tools: ScriptedTools) -> Any:
        return tools.toolkit(timeout=timedelta(milliseconds=300), max_tries=1)

    async with loop_stage(
        client, [call("a"), "A does not answer."], outcomes={"a": [Hanging()]}, toolkit=hurried
    ) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    assert [(step.tool, step.error_code, step.tries) for step in result.steps] == [("a", ErrorCode.TIMEOUT, 1)]
    told = it.model.requests[1].messages[-1].text
    assert "TIMEOUT" in told
    assert "0.3 s" in told
