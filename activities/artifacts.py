"""The artifact store: values that are too large for history, kept by their digest under the run that wrote them.

Objects lie under <namespace>/<run>/<sha256>, so that a run's values can be removed without looking into any other's.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from temporalio import activity

from activities.artifact_folders import Owner, folder_of, name_of
from activities.artifact_place import ARTIFACTS, Place, StoreError, find_place, told
from activities.store_calls import digest_of, limited, trouble
from harness.errors import ErrorCode, ToolError, quoted

if TYPE_CHECKING:
    from obstore import ObjectMeta  # which does not exist at run time

_FOLDER = re.compile(r"(?!\.)[a-z0-9_.%~-]+(?<!\.)/(?!\.)[a-z0-9_.%~-]+(?<!\.)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PROBES = "~probes"


@dataclass(frozen=True)
class Holding:
    """What the store keeps of one run."""

    folder: str
    objects: int
    size: int
    """Bytes of all objects together."""
    newest: datetime


def owner_of_activity() -> Owner:
    """Return to whom the artifacts of the activity belong that runs now."""
    return owner_of(activity.info())


def owner_of(info: activity.Info) -> Owner:
    """Return to whom the artifacts of an activity belong."""
    return Owner(info.namespace, info.workflow_id or "")


class ArtifactStore:
    """Bytes by their digest, in a directory or with a cloud provider. No call lasts longer than CALL_LIMIT."""

    def __init__(self, place: Place) -> None:
        """Keep artifacts in a place."""
        self._place = place

    @classmethod
    def open(cls, url: str) -> "ArtifactStore":
        """Open the store that a directory's path or a URL names; nothing is created yet.

        Raises:
            StoreError: when it names none.
        """
        return cls(find_place(url))

    @property
    def name(self) -> str:
        """Return where the store is, for people."""
        return self._place.name

    async def put(self, owner: Owner, data: bytes) -> str:
        """Keep bytes and return their digest. What is there already is not written again, unless its size is wrong.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when they could not be written.
        """
        digest = await digest_of(data)
        path = f"{folder_of(owner)}/{digest}"
        async with trouble(f"artifact {digest} cannot be written to {self.name}"):
            if await self._size_of(path) != len(data):
                # Not in parts: then it is there whole or not at all.
                await limited(obstore.put_async(self._place.objects, path, data, use_multipart=False))
        return digest

    async def get(self, owner: Owner, digest: str) -> bytes:
        """Return the bytes of a digest, verified.

        Raises:
            ToolError: ARTIFACT_LOST when they are missing or damaged, PROVIDER_UNAVAILABLE when the store cannot tell.
        """
        return await self.get_from(folder_of(owner), digest)

    async def get_from(self, folder: str, digest: str) -> bytes:
        """Return the bytes of a digest from the folder of a run, as `get`."""
        if not _FOLDER.fullmatch(folder) or not _DIGEST.fullmatch(digest):
            raise self._lost(folder, digest, "that is no reference to an artifact")
        async with trouble(f"artifact {digest} cannot be read from {self.name}"):
            data = await self._bytes_of(f"{folder}/{digest}")
        if data is None:
            raise self._lost(folder, digest, "it is missing")
        found = await digest_of(data)
        if found != digest:
            raise self._lost(folder, digest, f"it is damaged: {len(data):,} bytes with digest {found}")
        return data

    async def put_named(self, owner: Owner, name: str, data: bytes) -> bytes:
        """Keep bytes under a name, unless there are some already; return those that are there now.

        Args:
            owner: The run.
            name: 64 hexadecimal digits that are no digest of anything that is kept.
            data: At most a few kilobytes.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when they could not be written.
        """
        path = _named(owner, name)
        async with trouble(f"object {name} cannot be written to {self.name}"):
            try:
                await limited(obstore.put_async(self._place.objects, path, data, use_multipart=False, mode="create"))
            except AlreadyExistsError:
                return await self._bytes_of(path) or data
        return data

    async def get_named(self, owner: Owner, name: str) -> bytes | None:
        """Return the bytes of a name, None when there are none.

        Raises:
            ToolError: PROVIDER_UNAVAILABLE when the store cannot tell.
        """
        path = _named(owner, name)
        async with trouble(f"object {name} cannot be read from {self.name}"):
            return await self._bytes_of(path)

    async def check(self) -> None:
        """Write, read and remove a small object.

        Raises:
            StoreError: when that does not work.
        """
        path, content = f"{_PROBES}/{uuid4().hex}", b"probe"
        try:
            await limited(obstore.put_async(self._place.objects, path, content, use_multipart=False))
            data = await self._bytes_of(path)
            await limited(obstore.delete_async(self._place.objects, path))
        except (BaseError, OSError, ValueError) as error:
            raise StoreError(
                f"the artifact store {self.name} cannot be used ({told(error)}): make it readable and writable, or "
                f"name another one in {ARTIFACTS}"
            ) from error
        if data != content:
            raise StoreError(f"the artifact store {self.name} does not return what was written to it")

    async def holdings(self, namespace: str) -> list[Holding]:
        """Return what is kept of each run of a namespace, in no order."""
        found: dict[str, Holding] = {}
        async with trouble(f"the artifacts in {self.name} cannot be listed"):
            async for meta in self._listed(name_of(namespace)):
                folder, _, name = meta["path"].rpartition("/")
                if not self._is_ours(folder, name):
                    continue
                one = Holding(folder, 1, meta["size"], meta["last_modified"])
                found[folder] = _together(found[folder], one) if folder in found else one
        return list(found.values())

    async def delete(self, folder: str) -> None:
        """Remove all that is kept of one run."""
        if not _FOLDER.fullmatch(folder):
            raise ValueError(f"{folder!r} is no folder of a run")
        async with trouble(f"the artifacts of {folder} cannot be removed from {self.name}"):
            listed = [meta["path"].rpartition("/") async for meta in self._listed(folder)]
            paths = [f"{where}/{name}" for where, _, name in listed if where == folder and self._is_ours(folder, name)]
            with suppress(FileNotFoundError):  # somebody else removes them at the same time
                await limited(obstore.delete_async(self._place.objects, paths))
            if self._place.folder is not None:
                await asyncio.to_thread(_tidy, self._place.folder / folder)

    def _is_ours(self, folder: str, name: str) -> bool:
        """Return whether an object is an artifact; others may have put something else there, or a link to elsewhere."""
        if not _FOLDER.fullmatch(folder) or not _DIGEST.fullmatch(name):
            return False
        return self._place.folder is None or not (self._place.folder / folder).is_symlink()

    async def _size_of(self, path: str) -> int | None:
        """Return the size of an object, None when there is none."""
        if self._place.is_empty:
            return None
        try:
            return (await limited(obstore.head_async(self._place.objects, path)))["size"]
        except FileNotFoundError:
            return None

    async def _bytes_of(self, path: str) -> bytes | None:
        """Return an object, None when there is none."""
        if self._place.is_empty:
            return None
        try:
            answer = await limited(obstore.get_async(self._place.objects, path))
            return bytes(await limited(answer.bytes_async()))
        except FileNotFoundError:
            return None

    async def _listed(self, prefix: str) -> AsyncIterator["ObjectMeta"]:
        if self._place.is_empty:
            return
        stream = obstore.list(self._place.objects, prefix, chunk_size=1000)
        while chunk := await limited(anext(stream, [])):
            for meta in chunk:
                yield meta

    def _lost(self, folder: str, digest: str, why: str) -> ToolError:
        return ToolError(
            ErrorCode.ARTIFACT_LOST,
            f"artifact {quoted(digest)} of run {quoted(folder, 256)} cannot be had from the store {self.name}: {why}. "
            f"All workers and starters of a run must share one store: set {ARTIFACTS} to the same place for all",
        )


def _named(owner: Owner, name: str) -> str:
    if not _DIGEST.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an object")
    return f"{folder_of(owner)}/{name}"


def _tidy(folder: Path) -> None:
    """Remove what a process leaves that was killed in mid-write, and the folder itself unless others use it."""
    with suppress(OSError):
        for file in folder.glob("*#*"):
            if _DIGEST.match(file.name):
                file.unlink()
        folder.rmdir()


def _together(one: Holding, other: Holding) -> Holding:
    newest = max(one.newest, other.newest)
    return Holding(one.folder, one.objects + other.objects, one.size + other.size, newest)
