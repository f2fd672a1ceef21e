"""A large result travels with a mark that says where its trace is, which is read only when somebody looks."""

import pytest
from pydantic import ValidationError

from harness.loop import LoopResult, LoopStatus
from harness.run import RunResult, RunStatus
from harness.trace import TraceKind
from harness.trace_log import Trace
from tests.builders import NO_BUDGET, event
from workflows.data_converter import DATA_CONVERTER, RESULT_INLINE_BYTES, TRACE_PLACE

EVENTS = Trace([event(TraceKind.NODE_START, "RUNNING", "x" * 1000, n=number) for number in range(100)])
RUN = RunResult(
    run_id="r", session_id="", status=RunStatus.SUCCEEDED, report="found", budget=NO_BUDGET, trace=EVENTS, model="m"
)
LOOP = LoopResult(
    run_id="r", session_id="", status=LoopStatus.COMPLETED, report="found", budget=NO_BUDGET, trace=EVENTS, model="m"
)
CONVERTER = DATA_CONVERTER.payload_converter


@pytest.mark.parametrize("result", [RUN, LOOP], ids=["run", "loop"])
def test_the_trace_of_a_large_result_is_read_when_somebody_looks(result: RunResult | LoopResult) -> None:
    [payload] = CONVERTER.to_payloads([result])
    [read] = CONVERTER.from_payloads([payload], [type(result)])
    start, _ = map(int, payload.metadata[TRACE_PLACE].split(b":"))
    payload.data = payload.data[:start] + b"?" + payload.data[start + 1 :]
    [unread] = CONVERTER.from_payloads([payload], [type(result)])

    assert read == result
    assert unread.report == "found"
    assert unread.model == "m"
    with pytest.raises(ValidationError):
        _ = unread.trace.events


def test_a_result_that_travels_inline_has_no_mark() -> None:
    small = RUN.model_copy(update={"trace": EVENTS[:1]})
    [payload] = CONVERTER.to_payloads([small])

    assert len(payload.data) < RESULT_INLINE_BYTES
    assert TRACE_PLACE not in payload.metadata
    assert CONVERTER.from_payloads([payload], [RunResult]) == [small]


def test_a_result_whose_trace_was_cut_has_no_mark_and_is_read_whole() -> None:
    long = RUN.model_copy(update={"trace": Trace(EVENTS.texts * 90)})
    [payload] = CONVERTER.to_payloads([long])
    [read] = CONVERTER.from_payloads([payload], [RunResult])

    assert TRACE_PLACE not in payload.metadata
    assert read.trace_dropped > 0
    assert len(read.trace) + read.trace_dropped == 9000
