"""Work on large texts outside the event loop, which has other calls to serve."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LARGE = 4_096
"""Characters from which a text is searched outside the event loop: one full of numbers takes 2 ms per thousand."""


async def off_loop(work: Callable[[], T], *, size: int) -> T:
    """Do some work, in a thread when it is about that many characters."""
    return await asyncio.to_thread(work) if size >= LARGE else work()
