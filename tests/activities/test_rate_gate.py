import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, TypeVar

import pytest
from temporalio.testing import ActivityEnvironment

from activities.fellow_workers import FRESH, place_among
from activities.model.request import ModelError
from activities.rate_gate import LONGEST_WAIT_S, RateGate
from activities.toolkit import Tool, tool
from harness.catalog import Backoff, RateLimit, ToolSpec
from harness.errors import ErrorCode, ToolError
from harness.rate_limits import ALONE, Place

NOW = datetime(2026, 1, 1, tzinfo=UTC)
T = TypeVar("T")
FAST = RateLimit(name="fast", per_second=20)


def limited(name: str = "ask", limit: RateLimit | None = None, **policy: Any) -> ToolSpec:
    async def call() -> int:
        """Ask."""
        return 1

    call.__name__ = name
    made: Tool = tool(rate_limit=limit, **policy)(call)
    return made.spec


def told_to_wait(seconds: float | None, code: ErrorCode = ErrorCode.RATE_LIMITED) -> ToolError:
    return ToolError(code, "slower", retry_after_s=seconds)


def gate_at(place: Place = ALONE) -> RateGate:
    async def stands() -> Place:
        return place

    return RateGate(place=stands)


async def inside(call: Callable[[], Awaitable[T]]) -> T:
    """Await a call as an activity does."""

    async def activity() -> T:
        return await call()

    return await ActivityEnvironment().run(activity)


@asynccontextmanager
async def at_the_gate(call: Callable[[], Awaitable[object]]) -> AsyncIterator["asyncio.Task[object]"]:
    task = asyncio.create_task(inside(call))
    await asyncio.sleep(0.02)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_tool_without_a_limit_finds_the_gate_open() -> None:
    assert RateGate().is_open("ask", None)


def test_a_tool_with_a_limit_does_not() -> None:
    assert not RateGate().is_open("ask", FAST)


async def test_calls_of_a_limit_are_held_apart() -> None:
    gate, spec = gate_at(), limited(limit=FAST)

    async def three() -> list[float]:
        async def one() -> float:
            await gate.enter_tool(spec)
            return monotonic()

        return sorted(await asyncio.gather(one(), one(), one()))

    first, second, third = await inside(three)

    assert second - first >= 0.045
    assert third - second >= 0.045


async def test_a_tool_that_was_throttled_holds_the_calls_that_share_its_limit_back() -> None:
    gate = gate_at()
    gate.heed_tool(limited("ask", FAST), told_to_wait(0.2))

    waited = await inside(lambda: gate.enter_tool(limited("look", FAST)))

    assert 0.19 <= waited < 1


async def test_without_a_limit_only_calls_of_the_same_tool_wait() -> None:
    gate = gate_at()
    gate.heed_tool(limited("ask"), told_to_wait(0.2))

    assert gate.is_open("look", None)
    assert not gate.is_open("ask", None)
    assert await inside(lambda: gate.enter_tool(limited("ask"))) >= 0.19
    assert gate.is_open("ask", None)


@pytest.mark.parametrize(
    "error",
    [
        told_to_wait(None),
        told_to_wait(0),
        told_to_wait(-1),
        told_to_wait(math.nan),
        told_to_wait(5, ErrorCode.PROVIDER_UNAVAILABLE),
        ModelError(ErrorCode.RATE_LIMITED, "the model is throttled", retry_after_s=5),
    ],
    ids=["no wait", "none", "negative", "not a number", "another failure", "of a model"],
)
def test_what_names_no_wait_for_the_tool_pauses_nothing(error: ToolError) -> None:
    gate = gate_at()

    gate.heed_tool(limited("ask"), error)

    assert gate.is_open("ask", None)


async def test_who_cannot_wait_that_long_comes_back_later() -> None:
    gate = gate_at()
    gate.heed_tool(limited("ask"), told_to_wait(20))
    started = monotonic()

    with pytest.raises(ToolError) as caught:
        await inside(lambda: gate.enter_tool(limited("ask", timeout=timedelta(seconds=5))))

    assert monotonic() - started < 1
    assert caught.value.code is ErrorCode.RATE_LIMITED
    assert 19 < (caught.value.retry_after_s or 0) <= 20


async def test_a_pause_is_no_longer_than_the_longest_wait_between_tries() -> None:
    gate = gate_at()
    spec = limited("ask", backoff=Backoff(limit=timedelta(seconds=7)))
    gate.heed_tool(spec, told_to_wait(1e9))

    with pytest.raises(ToolError) as caught:
        await inside(lambda: gate.enter_tool(spec))

    assert (caught.value.retry_after_s or 0) <= 7


async def test_the_call_that_was_told_to_wait_does_not_wait_twice() -> None:
    gate, spec = gate_at(), limited("ask")

    async def throttled() -> None:
        gate.heed_tool(spec, told_to_wait(20))

    await inside(throttled)  # the next try of the same activity, which the server has held back

    assert await inside(lambda: gate.enter_tool(spec)) < 1


async def test_a_success_of_the_call_that_was_told_to_wait_ends_the_pause_for_all() -> None:
    gate, spec = gate_at(), limited("ask")

    async def throttled() -> None:
        gate.heed_tool(spec, told_to_wait(20))

    async def succeeds() -> None:
        gate.end_pause_of_tool(spec)

    await inside(throttled)
    gate.end_pause_of_tool(spec)  # of a call that was under way already
    assert not gate.is_open("ask", None)

    await inside(succeeds)
    assert gate.is_open("ask", None)


async def test_a_shorter_pause_does_not_shorten_a_longer_one() -> None:
    gate = gate_at()
    gate.heed_tool(limited("ask"), told_to_wait(20))
    gate.heed_tool(limited("ask"), told_to_wait(0.01))

    with pytest.raises(ToolError):
        await inside(lambda: gate.enter_tool(limited("ask")))


async def test_a_pause_that_is_asked_for_meanwhile_holds_those_that_wait_for_their_turn() -> None:
    gate, slow = gate_at(), RateLimit(name="slow", per_second=5)
    spec = limited("ask", slow)
    await inside(lambda: gate.enter_tool(spec))

    async with at_the_gate(lambda: gate.enter_tool(spec)) as second:
        gate.heed_tool(spec, told_to_wait(0.5))
        waited = await second

    assert isinstance(waited, float)
    assert waited >= 0.5


async def test_a_call_at_the_gate_can_be_cancelled() -> None:
    gate = gate_at()
    gate.heed_tool(limited("ask"), told_to_wait(4))

    async with at_the_gate(lambda: gate.enter_tool(limited("ask"))) as waiting:
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, 1)

    await asyncio.wait_for(gate.has_room("test"), 1)


async def test_there_is_no_room_for_another_call_while_one_waits() -> None:
    gate = gate_at()
    gate.heed_tool(limited("ask"), told_to_wait(0.3))

    async with at_the_gate(lambda: gate.enter_tool(limited("ask"))) as waiting:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(gate.has_room("test"), 0.05)
        await waiting
        await asyncio.wait_for(gate.has_room("test"), 1)


async def test_a_turn_that_comes_too_late_is_left_to_others() -> None:
    gate, hourly = gate_at(), RateLimit(name="slow", per_second=1 / (2 * LONGEST_WAIT_S))
    spec = limited("ask", hourly, timeout=timedelta(hours=1))
    await inside(lambda: gate.enter_tool(spec))

    with pytest.raises(ToolError) as first:
        await inside(lambda: gate.enter_tool(spec))
    with pytest.raises(ToolError) as second:
        await inside(lambda: gate.enter_tool(spec))

    assert first.value.retry_after_s == pytest.approx(second.value.retry_after_s, abs=1)


def test_a_worker_is_ranked_among_those_that_have_polled_lately() -> None:
    gone = NOW - FRESH - timedelta(seconds=1)

    assert place_among("b", {"a": NOW - FRESH, "b": NOW, "c": gone}) == Place(rank=1, workers=2)


def test_a_worker_that_the_server_does_not_list_counts_itself() -> None:
    assert place_among("b", {}) == ALONE
    assert place_among("b", {"a": NOW}) == Place(rank=1, workers=2)
