"""Arguments from the artifact store: loaded where a call is made, so that no message carries them."""

import asyncio
import copy
import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.side_by_side import side_by_side
from harness.artifact import StoredArgument
from harness.errors import ErrorCode, ToolError, quoted
from harness.json_pointer import PointerError, resolve_pointer

_LARGE = 262_144
"""Bytes from which JSON is read outside the event loop."""
MAX_LOADED_BYTES = 268_435_456
"""Most bytes of stored values that one call may take together: they are in memory at once."""


async def loaded(
    values: Mapping[str, JsonValue], stored: Sequence[StoredArgument], store: ArtifactStore, owner: Owner
) -> dict[str, JsonValue]:
    """Return arguments with every stored value in its place.

    Raises:
        ToolError: ARTIFACT_LOST or PROVIDER_UNAVAILABLE as the store says, INVALID_ARGUMENT when a path does not exist
            in a stored value, PAYLOAD_TOO_LARGE when they are too large together.
    """
    sizes = {each.artifact.digest: each.artifact.size for each in stored}
    if sum(sizes.values()) > MAX_LOADED_BYTES:
        raise ToolError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"the arguments have {sum(sizes.values()):,} bytes, the limit is {MAX_LOADED_BYTES:,}; pass less",
        )
    values_in_store = await side_by_side(lambda digest: _value(store, owner, digest), sizes)
    found = dict(zip(sizes, values_in_store, strict=True))
    complete = {name: _own(value) for name, value in values.items()}
    for each in stored:
        _put(complete, each, _part(found[each.artifact.digest], each))
    return complete


async def _value(store: ArtifactStore, owner: Owner, digest: str) -> JsonValue:
    data = await store.get(owner, digest)
    value: JsonValue = json.loads(data) if len(data) < _LARGE else await asyncio.to_thread(json.loads, data)
    return value


def _own(value: JsonValue) -> JsonValue:
    return copy.copy(value) if isinstance(value, list) else value


def _put(arguments: dict[str, JsonValue], place: StoredArgument, value: JsonValue) -> None:
    target = arguments.get(place.name)
    if place.index is not None and isinstance(target, list):
        target[place.index] = value
    else:
        arguments[place.name] = value


def _part(value: JsonValue, place: StoredArgument) -> JsonValue:
    try:
        return resolve_pointer(value, place.path)
    except PointerError as error:
        message = f"argument {quoted(place.name)}: in the artifact {place.artifact.digest}: {error}"
        raise ToolError(ErrorCode.INVALID_ARGUMENT, message) from error
