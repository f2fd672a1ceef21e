"""A call enters its context only when it comes to wait, and behaves in it as if it had been awaited there."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, suppress
from weakref import ref

import pytest

from activities.first_step import within_if_it_waits


class Contexts:
    """Counts how often its context was entered and left."""

    def __init__(self) -> None:
        self.entered = self.left = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        self.entered += 1
        try:
            yield
        finally:
            self.left += 1


async def test_a_call_that_waits_for_nothing_needs_no_context() -> None:
    contexts = Contexts()

    async def inner() -> int:
        return 41

    async def call() -> int:
        return 1 + await inner()

    assert await within_if_it_waits(call(), contexts) == 42
    assert contexts.entered == 0


async def test_a_call_that_waits_goes_on_in_the_context_in_the_same_task() -> None:
    contexts = Contexts()
    events, task = [asyncio.Event() for _ in range(3)], asyncio.current_task()

    async def call() -> str:
        for event in events:
            assert asyncio.current_task() is task
            asyncio.get_running_loop().call_soon(event.set)
            await event.wait()
            await asyncio.sleep(0)
        return f"{contexts.entered} {contexts.left}"

    assert await within_if_it_waits(call(), contexts) == "1 0"
    assert contexts.left == 1


@pytest.mark.parametrize("waits", [0, 1, 3])
async def test_an_error_is_raised_as_it_is(waits: int) -> None:
    contexts = Contexts()

    async def call() -> None:
        for _ in range(waits):
            await asyncio.sleep(0)
        raise LookupError(waits)

    with pytest.raises(LookupError, match=str(waits)):
        await within_if_it_waits(call(), contexts)
    assert contexts.entered == contexts.left == min(waits, 1)


@pytest.mark.parametrize("waits", [1, 3])
async def test_a_call_may_handle_what_it_waits_for(waits: int) -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError

    async def call() -> int:
        handled = 0
        for _ in range(waits):
            try:
                await fails()
            except LookupError:
                handled += 1
        return handled

    assert await within_if_it_waits(call(), Contexts()) == waits


@pytest.mark.parametrize("waits", [1, 3])
async def test_a_limit_of_time_interrupts_a_call(waits: int) -> None:
    seen: list[str] = []

    async def call() -> None:
        try:
            for _ in range(waits - 1):
                await asyncio.sleep(0)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with pytest.raises(TimeoutError):
        await within_if_it_waits(call(), lambda: asyncio.timeout(0.01))
    assert seen == ["cancelled"]


async def test_a_cancelled_call_may_take_its_time_to_clean_up() -> None:
    waiting = asyncio.Event()

    async def call() -> None:
        try:
            waiting.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            raise LookupError("cleaned up") from None

    task = asyncio.create_task(within_if_it_waits(call(), Contexts()))
    await waiting.wait()
    task.cancel()
    with pytest.raises(LookupError, match="cleaned up"):
        await asyncio.wait_for(task, 5)


async def test_nested_calls_have_their_own_limits() -> None:
    async def inner() -> None:
        await asyncio.sleep(60)

    async def outer() -> str:
        try:
            await within_if_it_waits(inner(), lambda: asyncio.timeout(0.01))
        except TimeoutError:
            await asyncio.sleep(0)
            return "the inner one"
        return "none"

    assert await within_if_it_waits(outer(), lambda: asyncio.timeout(10)) == "the inner one"


async def test_what_is_awaitable_but_no_coroutine_is_awaited_in_the_context() -> None:
    contexts = Contexts()
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    future.set_result(7)

    class Other:
        def __await__(self) -> object:
            return future.__await__()

    other: Awaitable[int] = Other()  # type: ignore[assignment] # it is one at run time
    assert await within_if_it_waits(future, contexts) == 7
    assert await within_if_it_waits(other, contexts) == 7
    assert contexts.entered == 2


async def test_a_call_that_nobody_waits_for_any_more_is_closed() -> None:
    closed: list[str] = []

    async def call() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            closed.append("closed")

    inner = call()
    waiting = within_if_it_waits(inner, Contexts())
    waiting.send(None)  # the first step, by hand: as an event loop that ends meanwhile
    waiting.close()

    assert closed == ["closed"]
    assert inner.cr_frame is None


async def test_a_call_whose_context_cannot_be_entered_is_closed() -> None:
    closed: list[str] = []

    async def call() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            closed.append("closed")

    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise LookupError("no context")
        yield

    inner = call()
    with pytest.raises(LookupError, match="no context"):
        await within_if_it_waits(inner, broken)
    assert closed == ["closed"]


class Large:
    """Stands for what is large."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Leave what has no references but its own to nobody."""
    gc.disable()
    yield
    gc.enable()


def in_a_thread_that_fails() -> None:
    raise LookupError


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("limit_s", [5, 0.01], ids=["failed", "out of time"])
async def test_what_a_failed_call_had_is_freed_at_once(limit_s: float) -> None:
    known: list[ref[Large]] = []

    async def call() -> None:
        large = Large()
        known.append(ref(large))
        await (asyncio.to_thread(in_a_thread_that_fails) if limit_s > 1 else asyncio.sleep(60))

    async def failing() -> None:
        with suppress(LookupError, TimeoutError):
            await within_if_it_waits(call(), lambda: asyncio.timeout(limit_s))

    await asyncio.create_task(failing())
    await asyncio.sleep(0)

    assert known[0]() is None


@pytest.mark.usefixtures("no_collector")
async def test_what_a_call_has_waited_for_first_is_freed_before_it_ends() -> None:
    known: list[ref[Large]] = []

    async def load() -> None:
        loaded: asyncio.Future[Large] = asyncio.get_running_loop().create_future()

        def arrive() -> None:
            large = Large()
            known.append(ref(large))
            loaded.set_result(large)

        asyncio.get_running_loop().call_soon(arrive)
        await loaded

    async def call() -> bool:
        await load()
        await asyncio.sleep(0)
        return known[0]() is None

    assert await within_if_it_waits(call(), Contexts())
