"""Calls to a store: none lasts for ever, and whatever goes wrong is one error."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

from obstore.exceptions import BaseError

from activities.artifact_place import CALL_LIMIT, told
from harness.errors import ErrorCode, ToolError

T = TypeVar("T")

_LARGE = 262_144
"""Bytes from which a digest is computed outside the event loop."""


async def digest_of(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    digest = hashlib.sha256
    return (await asyncio.to_thread(digest, data) if len(data) >= _LARGE else digest(data)).hexdigest()


async def limited(call: Awaitable[T]) -> T:
    """Wait for a call, as long as one may take."""
    try:
        async with asyncio.timeout(CALL_LIMIT.total_seconds()):
            return await call
    except TimeoutError as error:
        raise TimeoutError(f"no answer within {CALL_LIMIT.total_seconds():g} s") from error


@asynccontextmanager
async def trouble(what: str) -> AsyncIterator[None]:
    """Turn whatever a store may raise into the one error that says: try again."""
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise ToolError(ErrorCode.PROVIDER_UNAVAILABLE, f"{what} ({told(error)})") from error
