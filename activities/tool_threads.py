"""Threads for tools that are plain functions, so that none of them stops the worker."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.errors import ErrorCode, ToolError

MAX_THREADS = 100
"""As many as a worker has activities at once; a thread of a tool that never returns is lost to it."""
FREE_THREAD_LIMIT_S = 2.0


class ToolThreads:
    """Runs functions in threads of their own pool: the loop's default pool is small and belongs to others."""

    def __init__(self) -> None:
        """Create the pool; threads come with the first calls."""
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="tool")

    async def run(self, function: Callable[[], Any], *, limit_s: float) -> Any:  # noqa: ANN401 - a tool's own type
        """Run a function; its time counts from the moment when its thread starts.

        Raises:
            TimeoutError: after the limit; the thread cannot be stopped and goes on.
            ToolError: RATE_LIMITED when no thread is free: the function has not started.
        """
        loop, started = asyncio.get_running_loop(), asyncio.Event()
        context = contextvars.copy_context()

        def work() -> Any:  # noqa: ANN401 - a tool's own type
            loop.call_soon_threadsafe(started.set)
            try:
                return context.run(function)
            except (StopIteration, GeneratorExit) as error:  # no future takes the one, and no coroutine the other
                raise RuntimeError(f"{type(error).__name__}: {error}") from error

        call = self._pool.submit(work)
        try:
            async with asyncio.timeout(FREE_THREAD_LIMIT_S):
                await started.wait()
        except TimeoutError:
            if call.cancel():
                raise ToolError(ErrorCode.RATE_LIMITED, "no thread of this worker is free") from None
        async with asyncio.timeout(limit_s):
            return await asyncio.wrap_future(call)
