"""A large result travels with a mark that says where its trace is, which is read only when somebody looks."""

from typing import Any

import pytest
from pydantic import ValidationError

from harness.loop import LoopResult, LoopStatus
from harness.run import RunResult, RunStatus
from harness.trace import TraceKind
from harness.trace_log import Trace
from tests.builders import NO_BUDGET, event
from workflows.data_converter import DATA_CONVERTER, RESULT_INLINE_BYTES
from workflows.payload_storage import TRACE_PLACE

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
    payload.data = payload.data[: start + 1] + b"?" + payload.data[start + 2 :]
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


def test_a_result_that_was_cut_is_read_in_the_same_way() -> None:
    long = RUN.model_copy(update={"trace": Trace(EVENTS.texts * 90)})
    [payload] = CONVERTER.to_payloads([long])
    [read] = CONVERTER.from_payloads([payload], [RunResult])

    assert TRACE_PLACE in payload.metadata
    assert read.trace_dropped > 0
    assert len(read.trace) + read.trace_dropped == 9000


def test_a_reader_who_does_not_know_the_kind_gets_it_too() -> None:
    [payload] = CONVERTER.to_payloads([RUN])
    hint: Any = RunResult | LoopResult

    assert CONVERTER.from_payloads([payload], [hint]) == [RUN]


@pytest.mark.parametrize(
    "mark", [b"", b"x", b"5", b"-1:9", b"9:1", b"0:2", b"20:40", b"1:999999999", b"9" * 5000 + b":" + b"9" * 5000]
)
def test_a_mark_that_is_wrong_is_not_heeded(mark: bytes) -> None:
    [payload] = CONVERTER.to_payloads([RUN])
    payload.metadata[TRACE_PLACE] = mark

    assert CONVERTER.from_payloads([payload], [RunResult]) == [RUN]
