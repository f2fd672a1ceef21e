import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from harness.encoded import encoded_whole, encoded_within, read_without_trace
from harness.loop import LoopResult, LoopStatus, StepRecord
from harness.trace import TraceKind
from harness.trace_log import NO_EVENTS, Trace, TraceSlice
from tests.builders import NO_BUDGET, event

EVENTS = Trace([event(TraceKind.NODE_START, "RUNNING", trace=[], n=number) for number in range(3)])
ONE = EVENTS[:1]
ODD: dict[str, JsonValue] = {"a": 1, "trace": [], "b": ',"trace":[]'}
"""Arguments of a tool may have any names, also that of the field."""


def result(trace: Trace = EVENTS, arguments: dict[str, JsonValue] = ODD) -> LoopResult:
    step = StepRecord(number=1, call="1.1", tool="t", arguments=arguments, success=True, result="r")
    return LoopResult(
        run_id="r",
        session_id="",
        status=LoopStatus.COMPLETED,
        report='a ",\\"trace":[1]}',
        budget=NO_BUDGET,
        steps=(step,),
        trace=trace,
        model="m",
    )


def test_a_model_is_encoded_without_what_nobody_set() -> None:
    assert encoded_whole(result()).data == result().model_dump_json(exclude_unset=True).encode()
    answer = TraceSlice(first=3, events=EVENTS)
    assert encoded_whole(answer).data == answer.model_dump_json().encode()


def test_the_limit_is_exact() -> None:
    size = len(encoded_whole(result()).data)

    assert encoded_within(result(), size) == encoded_whole(result())
    assert encoded_within(result(), size - 1) is None
    assert encoded_within(result(), 0) is None


@pytest.mark.parametrize("trace", [EVENTS, ONE, NO_EVENTS], ids=["three", "one", "none"])
@pytest.mark.parametrize("arguments", [ODD, {"x": 1, "trace": [{}]}], ids=["none", "one"])
def test_a_model_is_read_without_its_trace_which_is_read_later(trace: Trace, arguments: dict[str, JsonValue]) -> None:
    whole = result(trace, arguments)
    encoded = encoded_whole(whole)
    assert encoded.trace_place is not None
    start, end = encoded.trace_place

    read = read_without_trace(LoopResult, encoded.data, (start, end))
    broken = encoded.data[:start] + b"[" + b"{" * (end - start - 2) + b"]" + encoded.data[end:]
    unread = read_without_trace(LoopResult, broken, (start, end))

    assert encoded.data[start:end] == trace.json
    assert read == whole
    assert (unread.report, unread.steps, unread.model) == (whole.report, whole.steps, "m")
    if trace:
        with pytest.raises(ValidationError):
            _ = unread.trace.events


def test_a_model_without_a_trace_has_no_place_for_it() -> None:
    assert encoded_whole(TraceSlice(first=0)).trace_place is None


@given(st.integers(-10, 3000), st.integers(-10, 3000))
def test_a_place_where_no_trace_is_is_not_heeded(start: int, end: int) -> None:
    whole = result()
    encoded = encoded_whole(whole)
    assert encoded.trace_place is not None
    if start == encoded.trace_place[0]:
        return

    assert read_without_trace(LoopResult, encoded.data, (start, end)) == whole


def test_the_place_of_another_field_is_not_heeded() -> None:
    whole = result()
    data = encoded_whole(whole).data
    start = data.index(b'"steps":') + len('"steps":')

    assert read_without_trace(LoopResult, data, (start, data.rindex(b"]") + 1)) == whole
    assert read_without_trace(LoopResult, data, (start, data.index(b"]", start) + 1)) == whole
