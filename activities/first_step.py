"""The first step of a call: as far as it goes without waiting. Most calls of quick tools end there."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager
from types import CoroutineType, coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def within_if_it_waits(call: Awaitable[T], context: Callable[[], AbstractAsyncContextManager[object]]) -> T:
    """Make a call in a context, such as a time limit, that is entered only when the call comes to wait for something.

    A limit cannot interrupt what does not wait, and to set one costs more than all else that is done for a quick call.

    Args:
        call: What to do. It runs in the current task, whose cancellation reaches it.
        context: Makes the context. What has been spent until then is for the context to know.
    """
    if not isinstance(call, CoroutineType):
        async with context():
            return await call
    first: list[object] = []
    try:
        first.append(call.send(None))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return] # what the coroutine has returned
    try:
        async with context():
            return await _rest(call, first)
    finally:
        call.close()  # which does nothing, unless nobody has waited for its end


@coroutine
def _rest(call: "CoroutineType[Any, Any, T]", first: list[object]) -> Generator[Any, Any, T]:
    """Go on with a call that waits for something, as `yield from` would have done from its beginning (PEP 380).

    Args:
        call: What has been started.
        first: What it waits for, which is taken: no frame keeps a future longer than the call does, nor its result.
    """
    awaited: object = first.pop()
    step: Callable[[Any], object] = call.send
    given: Any = None
    try:
        while True:
            try:
                given, step = (yield awaited), call.send
            except GeneratorExit:
                raise  # whoever has begun the call closes it
            except BaseException as error:  # noqa: BLE001 - it is for the call: a cancellation above all
                given, step = error, call.throw
            awaited = None
            try:
                awaited = step(given)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return] # what the coroutine has returned
    finally:
        del given, step  # an error has this frame in its traceback, and would keep itself alive
