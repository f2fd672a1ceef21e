"""What an agent loop keeps in the artifact store: frame, conversation and facts, each as JSON."""

import asyncio
import json
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter

from activities.artifacts import ArtifactStore, owner_of_activity
from harness.artifact import Artifact

Kept = TypeVar("Kept", bound=BaseModel)

_FACTS = TypeAdapter(dict[str, str])
_LARGE = 262_144
"""Bytes from which JSON is read outside the event loop."""


class Shelf:
    """Puts things of the run whose activity is at work into the store, and gets them back."""

    def __init__(self, store: ArtifactStore) -> None:
        """Keep things in this store."""
        self._store = store

    async def put(self, value: BaseModel) -> Artifact:
        """Keep a value; equal values are one artifact."""
        return await self.put_bytes(value.model_dump_json(exclude_defaults=True).encode())

    async def get(self, kind: type[Kept], artifact: Artifact) -> Kept:
        """Return a value.

        Raises:
            ToolError: ARTIFACT_LOST or PROVIDER_UNAVAILABLE, as the store says.
        """
        return await self.get_by_digest(kind, artifact.digest)

    async def get_by_digest(self, kind: type[Kept], digest: str) -> Kept:
        """Return a value by the digest of its artifact, as `get`."""
        data = await self.bytes_of(digest)
        if len(data) < _LARGE:
            return kind.model_validate_json(data)
        return await asyncio.to_thread(kind.model_validate_json, data)

    async def put_facts(self, facts: dict[str, str]) -> Artifact:
        """Keep facts by their names."""
        return await self.put_bytes(json.dumps(facts, ensure_ascii=False).encode(errors="replace"))

    async def facts(self, artifact: Artifact | None) -> dict[str, str]:
        """Return facts; none when nothing was kept."""
        return _FACTS.validate_json(await self.bytes_of(artifact.digest)) if artifact else {}

    async def put_bytes(self, data: bytes) -> Artifact:
        """Keep bytes."""
        return Artifact(digest=await self._store.put(owner_of_activity(), data), size=len(data))

    async def bytes_of(self, digest: str) -> bytes:
        """Return bytes that are kept."""
        return await self._store.get(owner_of_activity(), digest)
