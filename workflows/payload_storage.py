"""Large payloads travel by reference: Temporal's external storage over the artifact store of the run."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    ExternalStorage,
    StorageDriver,
    StorageDriverActivityInfo,
    StorageDriverClaim,
    StorageDriverRetrieveContext,
    StorageDriverSelectContext,
    StorageDriverStoreContext,
)
from temporalio.exceptions import ApplicationError

from activities.artifact_folders import Owner, folder_of
from activities.artifacts import ArtifactStore
from harness.errors import ErrorCode, ToolError

INLINE_LIMIT = "whippletree-inline"
"""Metadata of a payload that somebody without the store should read: the bytes up to which it travels inline."""
TRACE_PLACE = "whippletree-trace"
"""Metadata of a large result: where its trace begins and ends, "first byte:byte after it". It need not be read then."""
_PLACE = re.compile(rb"(\d{1,12}):(\d{1,12})")
_PLAIN = frozenset({b"json/plain", b"binary/plain", b"binary/null"})


class ArtifactDriver(StorageDriver):
    """Keeps payloads in the artifact store, under the run that they belong to."""

    def __init__(self, store: ArtifactStore) -> None:
        """Keep payloads in this store."""
        self.store_of_artifacts = store

    def name(self) -> str:
        """Return the name that histories refer to; it can never change."""
        return "whippletree.artifacts"

    async def store(self, context: StorageDriverStoreContext, payloads: Sequence[Payload]) -> list[StorageDriverClaim]:
        """Keep payloads; history gets a key for each.

        Raises:
            ApplicationError: when the store cannot be reached.
        """
        target = context.target
        owner = Owner(target.namespace, target.id or "") if target else Owner("", "")
        data = [payload.SerializeToString(deterministic=True) for payload in payloads]
        with _typed():
            digests = await asyncio.gather(*(self.store_of_artifacts.put(owner, one) for one in data))
        return [StorageDriverClaim(claim_data={"key": f"{folder_of(owner)}/{digest}"}) for digest in digests]

    async def retrieve(
        self,
        context: StorageDriverRetrieveContext,  # noqa: ARG002 - it says nothing
        claims: Sequence[StorageDriverClaim],
    ) -> list[Payload]:
        """Return the payloads of keys.

        Raises:
            ApplicationError: when one is lost or the store cannot be reached.
        """
        keys = [claim.claim_data.get("key", "").rpartition("/") for claim in claims]
        with _typed():
            data = await asyncio.gather(
                *(self.store_of_artifacts.get_from(folder, digest) for folder, _, digest in keys)
            )
        return [Payload.FromString(one) for one in data]


def external_storage(store: ArtifactStore, threshold: int) -> ExternalStorage:
    """Return the storage of payloads of `threshold` bytes and more, but for those that are marked to stay inline."""
    driver = ArtifactDriver(store)

    def select(context: StorageDriverSelectContext, payload: Payload) -> StorageDriver | None:
        limit = max(threshold, _taken_mark(payload))
        is_small = payload.ByteSize() <= limit
        if is_small:
            payload.metadata.pop(TRACE_PLACE, None)  # it stays inline, where Temporal's own tools show no marked JSON
        # The details of a heartbeat do not enter history, and a store that fails must not cancel the activity.
        return None if is_small or isinstance(context.target, StorageDriverActivityInfo) else driver

    # Each payload passes the selector, which takes the mark away: Temporal's own tools show no marked JSON.
    return ExternalStorage(drivers=[driver], driver_selector=select, payload_size_threshold=0)


def stays_inline(payload: Payload, threshold: int) -> bool:
    """Return whether a payload surely passes the storage as it is: it is small, and no mark is to be taken away."""
    return INLINE_LIMIT not in payload.metadata and payload.ByteSize() <= threshold


def may_be_reference(payload: Payload) -> bool:
    """Return whether a payload may stand for one in the store; JSON and bytes surely do not."""
    return payload.metadata.get("encoding") not in _PLAIN


def place_of_trace(payload: Payload) -> tuple[int, int] | None:
    """Return where the trace of a result is, as far as its mark says so."""
    mark = _PLACE.fullmatch(payload.metadata.get(TRACE_PLACE, b""))
    return (int(mark[1]), int(mark[2])) if mark else None


def store_of(converter: DataConverter) -> ArtifactStore | None:
    """Return the artifact store of a converter, None when it has none."""
    storage = converter.external_storage
    drivers = storage.drivers if storage else ()
    return next((driver.store_of_artifacts for driver in drivers if isinstance(driver, ArtifactDriver)), None)


def _taken_mark(payload: Payload) -> int:
    if INLINE_LIMIT not in payload.metadata:
        return 0
    limit = int(payload.metadata[INLINE_LIMIT])
    del payload.metadata[INLINE_LIMIT]
    return limit


def value_of(data: bytes) -> bytes:
    """Return what somebody wants to see of an artifact: the value of a payload, or the bytes themselves."""
    try:
        payload = Payload.FromString(data)
    except DecodeError:
        return data
    return payload.data if "encoding" in payload.metadata else data


def owner_of(namespace: str, run_id: str) -> Owner:
    """Return to whom the artifacts of a run belong, for the command line, which imports no activities."""
    return Owner(namespace, run_id)


@contextmanager
def _typed() -> Iterator[None]:
    """Give Temporal the type of an error, and whether another try may help.

    Only an error that is not retryable makes the SDK fail a workflow; any other one fails the task, again and again.
    """
    try:
        yield
    except ToolError as error:
        is_lost = error.code is ErrorCode.ARTIFACT_LOST
        raise ApplicationError(error.message, type=error.code, non_retryable=is_lost) from error
