"""Calls to the artifact store side by side, because each may have a network round trip to wait for."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

MOST = 20
"""Calls under way at once."""

A = TypeVar("A")
T = TypeVar("T")


async def side_by_side(call: Callable[[A], Awaitable[T]], items: Iterable[A]) -> list[T]:
    """Make a call for each item, some at a time, and return the results in order; the first failure ends them all."""
    slots = asyncio.Semaphore(MOST)

    async def one(item: A) -> T:
        async with slots:
            return await call(item)

    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
