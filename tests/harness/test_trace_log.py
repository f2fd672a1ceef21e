import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.trace import TraceEvent, TraceKind
from harness.trace_log import NO_EVENTS, Trace
from harness.wire_size import Room
from tests.builders import event

EVENT = TypeAdapter(TraceEvent)
EVENTS = tuple(event(TraceKind.NODE_START, "RUNNING", f"m{number}", n=number) for number in range(4))
TEXTS = tuple(map(EVENT.dump_json, EVENTS))
WHOLE = b"[" + b",".join(TEXTS) + b"]"


class Holder(BaseModel):
    trace: Trace = NO_EVENTS


def traces() -> list[Trace]:
    """Return the same events in every form."""
    read: list[dict[str, Any]] = json.loads(WHOLE)
    return [Trace(EVENTS), Trace(TEXTS), Trace(read), Trace.of_json(WHOLE), Trace((EVENTS[0], TEXTS[1], *read[2:]))]


@pytest.mark.parametrize("form", range(5))
def test_a_trace_is_the_same_in_every_form(form: int) -> None:
    assert traces()[form].json == WHOLE
    assert traces()[form].events == EVENTS
    assert traces()[form].texts == TEXTS
    assert traces()[form].size == sum(len(text) + 1 for text in TEXTS)
    assert len(traces()[form]) == 4
    assert list(traces()[form]) == list(EVENTS)
    assert traces()[form][1] == EVENTS[1]
    assert traces()[form][-2:] == Trace(EVENTS[2:])


@pytest.mark.parametrize("form", range(5))
def test_a_model_writes_and_reads_it_as_a_list_of_events(form: int) -> None:
    holder = Holder(trace=traces()[form])

    text = holder.model_dump_json()

    assert text == f'{{"trace":{WHOLE.decode()}}}'
    assert Holder.model_validate_json(text) == holder
    assert Holder.model_validate({"trace": list(EVENTS)}) == holder


def test_traces_of_equal_events_are_equal() -> None:
    assert Trace(EVENTS) == Trace(TEXTS)
    assert hash(Trace(EVENTS)) == hash(Trace(TEXTS))
    assert Trace(EVENTS) != Trace(EVENTS[:3])
    assert Trace(EVENTS) != EVENTS


def test_to_show_a_trace_reads_nothing() -> None:
    assert repr(Trace(EVENTS)) == "Trace(4 events)"
    assert repr(Trace.of_json(b"broken")) == "Trace(unread)"


@pytest.mark.parametrize("wrong", [["x"], [1], {"trace": []}, [object()]])
def test_only_objects_may_be_events(wrong: object) -> None:
    with pytest.raises(ValidationError):
        Holder.model_validate({"trace": wrong})


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_a_schema_describes_the_events(mode: Literal["validation", "serialization"]) -> None:
    schema = Holder.model_json_schema(mode=mode)

    assert schema["properties"]["trace"]["items"] == {"$ref": "#/$defs/TraceEvent"}


def test_as_many_events_are_taken_as_there_is_room_for() -> None:
    room = Room(len(TEXTS[0]) + len(TEXTS[1]) + 2)

    assert Trace(TEXTS).first(room).events == EVENTS[:2]
    assert room.left == 0
    assert Trace(TEXTS).last(Room(len(TEXTS[3]) + 1)).events == EVENTS[3:]
    assert Trace(TEXTS).first(Room(0)).events == ()
    assert Trace(TEXTS).last(Room(10_000)).events == EVENTS


def test_what_is_no_event_is_noticed_when_somebody_looks() -> None:
    holder = Holder.model_validate_json('{"trace":[{"kind":"node.start"}]}')

    assert len(holder.trace) == 1
    with pytest.raises(ValidationError, match="timestamp"):
        _ = holder.trace.events
