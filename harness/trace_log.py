"""The trace as it is kept and sent: JSON, which is written once and read only when somebody looks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, overload

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema, to_json

from harness.trace import TraceEvent
from harness.wire_size import Room

_EVENT = TypeAdapter(TraceEvent)
_EVENTS = TypeAdapter(tuple[TraceEvent, ...])

Part = TraceEvent | bytes | dict[str, Any]
"""An event, as it is, as JSON, or as what JSON was read into."""


class Trace(Sequence[TraceEvent]):
    """Events in their order.

    A large run has thousands, and whoever starts it wants the report: so they are read and checked when somebody looks,
    all at once, which begins with asking how many there are. What is no event is a ValidationError then.
    """

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """Take events in any form."""
        self._parts: tuple[Part, ...] | None = tuple(parts)
        self._events: tuple[TraceEvent, ...] | None = None
        self._json: bytes | None = None

    @classmethod
    def of_json(cls, text: bytes) -> "Trace":
        """Take the JSON list of events, unread."""
        trace = cls()
        trace._parts, trace._json = None, text
        return trace

    @property
    def events(self) -> tuple[TraceEvent, ...]:
        """Return the events.

        Raises:
            ValidationError: when one is none.
        """
        if self._events is None:
            known = tuple(part for part in self._parts or () if isinstance(part, TraceEvent))
            is_whole = self._parts is not None and len(known) == len(self._parts)
            self._events = known if is_whole else _EVENTS.validate_json(self.json)
        return self._events

    @property
    def texts(self) -> tuple[bytes, ...]:
        """Return each event as JSON."""
        return tuple(map(_json_of, self._read_parts()))

    @property
    def json(self) -> bytes:
        """Return the JSON list of the events."""
        if self._json is None:
            self._json = b"".join(self.pieces)
        return self._json

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """Return the JSON list of the events in pieces, for whoever puts it into something larger."""
        return (b"[", b",".join(self.texts), b"]") if self._json is None else (self._json,)

    @property
    def size(self) -> int:
        """Return the bytes of the events as JSON, with a comma after each."""
        return sum(len(text) + 1 for text in self.texts)

    def _read_parts(self) -> tuple[Part, ...]:
        if self._parts is None:
            self._parts = self.events
        return self._parts

    def first(self, room: Room) -> "Trace":
        """Return the first events, as many as fit one after the other, and take their bytes."""
        return Trace(_fitting(self.texts, room))

    def last(self, room: Room) -> "Trace":
        """Return the last events, as many as fit one after the other, and take their bytes."""
        return Trace(_fitting(reversed(self.texts), room)[::-1])

    def __len__(self) -> int:
        return len(self._read_parts())

    def __iter__(self) -> Iterator[TraceEvent]:
        return iter(self.events)

    @overload
    def __getitem__(self, index: int) -> TraceEvent: ...
    @overload
    def __getitem__(self, index: slice) -> "Trace": ...
    def __getitem__(self, index: int | slice) -> "TraceEvent | Trace":
        return Trace(self._read_parts()[index]) if isinstance(index, slice) else self.events[index]

    def __eq__(self, other: object) -> bool:
        return self.events == other.events if isinstance(other, Trace) else NotImplemented

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return "Trace(unread)" if self._parts is None else f"Trace({len(self._parts)} events)"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Take a list of events or of objects that may be some, and write a list of events."""
        known, objects = core_schema.is_instance_schema(TraceEvent), core_schema.dict_schema()
        either = core_schema.union_schema([known, objects], mode="left_to_right")

        def made_of(items: CoreSchema) -> CoreSchema:
            return core_schema.no_info_after_validator_function(cls, core_schema.list_schema(items))

        return core_schema.json_or_python_schema(
            json_schema=made_of(objects),
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), made_of(either)]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                tuple, return_schema=handler.generate_schema(tuple[TraceEvent, ...])
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe a list of events, in both directions."""
        return handler(schema["serialization"]["return_schema"])


NO_EVENTS = Trace()


class TraceSlice(BaseModel):
    """The answer of the query `trace`: events in their order."""

    model_config = ConfigDict(frozen=True)

    first: int
    """Index of the first of them, counted from the start of the run."""
    events: Trace = NO_EVENTS


def _json_of(part: Part) -> bytes:
    if isinstance(part, bytes):
        return part
    return _EVENT.dump_json(part) if isinstance(part, TraceEvent) else to_json(part)


def _fitting(texts: Iterable[bytes], room: Room) -> tuple[bytes, ...]:
    return tuple(takewhile(lambda text: room.take(len(text) + 1), texts))
