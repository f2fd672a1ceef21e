"""Artifacts of a tool: bytes that it keeps with its run and finds there again."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from activities.artifact_folders import Owner
from activities.artifact_place import CALL_LIMIT
from activities.artifacts import ArtifactStore
from harness.artifact import PREVIEW_CHARS, Artifact

T = TypeVar("T")

BLOCKING_LIMIT_S = 3 * CALL_LIMIT.total_seconds()
"""How long a thread waits for the store: longer than the store's own limits, and not for ever."""


@dataclass(frozen=True)
class ToolArtifacts:
    """The artifacts of one run. A tool can reach no other run's."""

    store: ArtifactStore
    owner: Owner
    loop: asyncio.AbstractEventLoop | None = None
    """The loop that serves tools which are plain functions."""

    @classmethod
    def in_memory(cls) -> "ToolArtifacts":
        """Return artifacts that last as long as the object itself."""
        return cls(ArtifactStore.open("memory://"), Owner("default", "run"))

    async def put(self, data: bytes) -> Artifact:
        """Keep bytes, and return what a result may hold in their place.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when they could not be written.
        """
        kept = bytes(data)
        digest = await self.store.put(self.owner, kept)
        return Artifact(digest=digest, size=len(kept), preview=_preview(kept))

    async def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, verified.

        Raises:
            ToolError: ARTIFACT_LOST when this run has none such, PROVIDER_UNAVAILABLE when the store cannot tell.
        """
        return await self.store.get(self.owner, digest)

    def put_blocking(self, data: bytes) -> Artifact:
        """Keep bytes as `put`, from a tool that is a plain function."""
        return self._wait(lambda: self.put(data))

    def get_blocking(self, digest: str) -> bytes:
        """Return bytes as `get`, to a tool that is a plain function."""
        return self._wait(lambda: self.get(digest))

    def _wait(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if _has_running_loop():
            raise RuntimeError("an async tool awaits `put` and `get`; the blocking forms are for plain functions")
        if self.loop is None:
            return asyncio.run(call())
        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(BLOCKING_LIMIT_S)


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _preview(data: bytes) -> str:
    return data[: 4 * PREVIEW_CHARS].decode(errors="ignore")[:PREVIEW_CHARS]
