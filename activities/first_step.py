"""The first step of a call: as far as it goes without waiting. Most calls of quick tools end there."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import CoroutineType, coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def within_if_it_waits(call: Awaitable[T], context: Callable[[], AbstractAsyncContextManager[object]]) -> T:
    """Make a call in a context, such as a time limit, that is entered only when the call comes to wait for something.

    A limit cannot interrupt what does not wait, and to set one costs more than all else that is done for a quick call.

    Args:
        call: What to do. It runs in the current task, whose cancellation reaches it.
        context: Makes the context.
    """
    if not isinstance(call, CoroutineType):
        async with context():
            return await call
    try:
        awaited = call.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return] # what the coroutine has returned
    async with context():
        return await _rest(call, awaited)


@coroutine
def _rest(call: "CoroutineType[Any, Any, T]", awaited: object) -> Generator[Any, Any, T]:
    """Go on with a call that waits for something, as `yield from` would have done from its beginning (PEP 380)."""
    while True:
        try:
            sent = yield awaited
        except GeneratorExit:
            call.close()
            raise
        except BaseException as error:  # noqa: BLE001 - it is for the call: a cancellation above all
            go_on = partial(call.throw, error)
        else:
            go_on = partial(call.send, sent)
        try:
            awaited = go_on()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return] # what the coroutine has returned
