"""How a result becomes bytes: field by field within a limit; and how it is read again, its trace only when wanted."""

import sys
from functools import cache
from itertools import islice
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, TypeAdapter

from harness.record import record
from harness.trace_log import Trace
from harness.wire_size import Room

_PARTS_AT_A_TIME = 100
_TRACE = "trace"
"""The field that is not read with the others."""

Outcome = TypeVar("Outcome", bound=BaseModel)


@record()
class Encoded:
    """A model as JSON without the fields that nobody set."""

    data: bytes
    trace_place: tuple[int, int] | None = None
    """Where its trace begins and ends in the data; None when that is not known."""


def encoded_whole(model: BaseModel) -> Encoded:
    """Return a model encoded, whatever its size."""
    encoded = encoded_within(model, sys.maxsize)
    assert encoded is not None  # noqa: S101 - nothing is as large as that
    return encoded


def encoded_within(model: BaseModel, limit: int) -> Encoded | None:
    """Return a model encoded; None, and soon, when that is larger than the limit."""
    pieces: list[bytes] = []
    room = Room(limit - len("{}"))
    place: tuple[int, int] | None = None
    for name, adapter in _adapters(type(model)).items():
        if name not in model.model_fields_set:
            continue
        head = b'%b"%b":' % (b"," if pieces else b"", name.encode())
        value = _pieces_of(adapter, getattr(model, name), room.left)
        if value is None or not room.take(len(head) + sum(map(len, value))):
            return None
        if name == _TRACE:
            end = limit - len("}") - room.left
            place = (end - sum(map(len, value)), end)
        pieces += (head, *value)
    return Encoded(b"".join((b"{", *pieces, b"}")), place)


def read_without_trace(kind: type[Outcome], data: bytes, place: tuple[int, int]) -> Outcome:
    """Read an encoded model but for its trace, which is in this place, and is not read until somebody looks at it.

    A place where no trace is, is not heeded: the model is read whole.

    Raises:
        ValidationError: when the rest is none. What is wrong in the trace is not noticed here.
    """
    start, end = place
    field = b'"%b":[' % _TRACE.encode()
    is_there = 0 < start < end <= len(data) and data.endswith(b"]", start + 1, end)
    if not is_there or not data.endswith(field, 0, start + 1):
        return kind.model_validate_json(data)
    rest = kind.model_validate_json(b"%b[]%b" % (data[:start], data[end:]))
    return rest.model_copy(update={_TRACE: Trace.of_json(data[start:end])})


@cache
def _adapters(kind: type[BaseModel]) -> dict[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(hint) for name, hint in get_type_hints(kind).items() if name in kind.model_fields}


def _pieces_of(adapter: TypeAdapter[Any], value: object, limit: int) -> tuple[bytes, ...] | None:
    """Return a value as the pieces of its JSON, some of its parts at a time; None as soon as it is too large.

    They are put together once, with everything else: each copy of a megabyte takes a millisecond.
    """
    if isinstance(value, Trace):
        return value.pieces if value.size <= limit else None
    if not isinstance(value, tuple):
        return (adapter.dump_json(value, exclude_unset=True),)
    chunks: list[bytes] = []
    left, parts = limit, iter(value)
    while some := tuple(islice(parts, _PARTS_AT_A_TIME)):
        chunks.append(adapter.dump_json(some, exclude_unset=True)[1:-1])
        left -= len(chunks[-1])
        if left < 0:
            return None
    return (b"[", b",".join(chunks), b"]")
