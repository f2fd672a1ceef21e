from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from harness.budget import Budget, Limits
from harness.errors import ErrorClass
from harness.message_fit import (
    MAX_ANSWER_BYTES,
    MAX_RESULT_BYTES,
    encode_result,
    fit_attempts,
    fit_result,
    fit_view,
)
from harness.run import AttemptRecord, NodeReport, RunPhase, RunResult, RunStatus, RunView, draft_nodes
from harness.schedule import NodeStatus
from harness.trace import TraceEvent, TraceKind
from harness.verification import Verdict
from tests.builders import chain, literal, node
from workflows.data_converter import DATA_CONVERTER

MEBIBYTE = 1_048_576
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET = Budget(Limits()).snapshot(timedelta(0))


def events(count: int) -> tuple[TraceEvent, ...]:
    return tuple(
        TraceEvent(
            timestamp=NOW,
            run_id="run",
            session_id="s",
            attempt=0,
            kind=TraceKind.NODE_START,
            node_id=f"n{i}",
            status="RUNNING",
            budget=BUDGET,
        )
        for i in range(count)
    )


def result(trace: tuple[TraceEvent, ...] = (), attempts: tuple[AttemptRecord, ...] = ()) -> RunResult:
    return RunResult(
        run_id="run", session_id="s", status=RunStatus.SUCCEEDED, budget=BUDGET, trace=trace, attempts=attempts
    )


def attempt(nodes: int) -> AttemptRecord:
    return AttemptRecord(
        attempt=0,
        phase=RunPhase.EXECUTING,
        error_class=ErrorClass.FATAL,
        error="failed",
        nodes=draft_nodes(chain(nodes)),
    )


def size(model: BaseModel) -> int:
    """Return the bytes that the data converter makes of a value."""
    (payload,) = DATA_CONVERTER.payload_converter.to_payloads([model])
    return len(payload.data)


@pytest.mark.parametrize("limit", [MAX_RESULT_BYTES, 4000])
def test_a_result_is_encoded_as_what_fits_of_it(limit: int) -> None:
    whole = result(events(20), (attempt(2),))

    assert encode_result(whole, limit).data == fit_result(whole, limit).model_dump_json(exclude_unset=True).encode()
    assert RunResult.model_validate_json(encode_result(whole, MAX_RESULT_BYTES).data) == whole


def test_what_fits_is_left_whole() -> None:
    done = result(events(3), (attempt(2),))

    assert fit_result(done) is done
    assert fit_attempts(done.attempts) is done.attempts


def test_the_oldest_attempts_lose_their_nodes_and_count_them() -> None:
    limit = size(attempt(20)) * 5 // 2

    fitted = fit_attempts((attempt(20), attempt(20), attempt(20)), limit)

    assert [len(each.nodes) for each in fitted] == [0, 20, 20]
    assert [each.nodes_dropped for each in fitted] == [20, 0, 0]
    assert sum(map(size, fitted)) <= limit


def test_result_loses_its_oldest_trace_events() -> None:
    fitted = fit_result(result(events(20), (attempt(2),)), 4000)

    assert 0 < len(fitted.trace) < 20
    assert fitted.trace_dropped == 20 - len(fitted.trace)
    assert fitted.attempts == (attempt(2),)
    assert size(fitted) <= 4000


def test_an_earlier_attempt_whose_nodes_do_not_fit_loses_and_counts_them() -> None:
    fitted = fit_result(result(events(2), (attempt(100), attempt(2))), 4000)

    assert [(len(a.nodes), a.nodes_dropped) for a in fitted.attempts] == [(0, 100), (2, 0)]
    assert fitted.trace.events == events(2)
    assert size(fitted) <= 4000


def test_what_an_attempt_has_lost_adds_up_over_the_chain() -> None:
    once = fit_result(result(attempts=(attempt(100),)), 4000)

    assert fit_result(once.model_copy(update={"report": "r" * 5000}), 4000).attempts[0].nodes_dropped == 100


def test_a_node_that_does_not_fit_whole_keeps_its_ends() -> None:
    fitted = fit_result(result().model_copy(update={"plan": monstrous_nodes(2, "x" * 5000)}), 6000)

    assert [len(report.node.arguments[0].value.literal_value) <= 200 for report in fitted.plan] == [True, True]
    assert "characters cut" in fitted.plan[0].node.arguments[0].value.literal_value
    assert "characters cut" in (fitted.plan[0].error or "")
    assert fitted.plan_dropped == 0


def test_a_plan_that_does_not_fit_keeps_its_first_nodes_and_counts_the_rest() -> None:
    fitted = fit_result(result().model_copy(update={"plan": monstrous_nodes(100, "x")}), 6000)

    assert 0 < len(fitted.plan) < 100
    assert [report.node.id for report in fitted.plan] == [f"n{i}" for i in range(len(fitted.plan))]
    assert fitted.plan_dropped == 100 - len(fitted.plan)


def test_a_report_is_cut_only_when_it_does_not_fit_by_itself() -> None:
    large = result(events(20), (attempt(100),)).model_copy(update={"report": "r" * 3000})

    assert fit_result(large, 4000).report == "r" * 3000
    assert "characters cut" in (fit_result(large, 3000).report or "")
    assert size(fit_result(large, 3000)) <= 3000


CONTROL = "\x01"
"""The dearest character: six bytes on the wire."""


def monstrous_nodes(count: int, text: str) -> tuple[NodeReport, ...]:
    reports = []
    for i in range(count):
        wide = node(f"n{i}", "x" * 64, deps=["d" * 100] * 3, arguments={"a" * 64: literal(text)})
        reports.append(NodeReport(node=wide, status=NodeStatus.FAILED, error=text))
    return tuple(reports)


def monstrous_attempts(count: int, nodes: tuple[NodeReport, ...], text: str) -> tuple[AttemptRecord, ...]:
    return tuple(
        AttemptRecord(attempt=i, phase=RunPhase.EXECUTING, error_class=ErrorClass.VALIDATION, error=text, nodes=nodes)
        for i in range(count)
    )


def monstrous_events(count: int, text: str) -> tuple[TraceEvent, ...]:
    return tuple(replace(event, message=text, run_id="r" * 1000) for event in events(count))


def monstrous_result(width: int, text: str, report_size: int) -> RunResult:
    return RunResult(
        run_id="r" * 1000,
        session_id=CONTROL * 200,
        status=RunStatus.FAILED_VERIFICATION,
        report=CONTROL * report_size,
        error=text,
        verdict=Verdict(outcome="REJECTED", reasons=(text,) * width),
        plan=monstrous_nodes(width, text),
        attempts=monstrous_attempts(21, monstrous_nodes(width, text), text),
        budget=BUDGET,
        trace=monstrous_events(width, text),
    )


MONSTERS = {
    "1,000 nodes with errors of 2,000 characters": (1000, "e" * 2000),
    "1,000 nodes with errors that travel as 12,000 bytes": (1000, CONTROL * 2000),
    "a few nodes with texts of 1 MB": (4, "e" * 1_000_000),
    "1,000 nodes without texts": (1000, ""),
}


@pytest.mark.parametrize(("width", "text"), MONSTERS.values(), ids=MONSTERS.keys())
def test_a_result_fits_beside_a_report_of_1_mib_that_is_never_cut(width: int, text: str) -> None:
    whole = monstrous_result(width, text, report_size=MEBIBYTE // 6)

    fitted = fit_result(whole)

    assert size(fitted) <= MAX_RESULT_BYTES
    assert fitted.report == whole.report
    assert len(fitted.plan) + fitted.plan_dropped == width
    assert sum(len(a.nodes) + a.nodes_dropped for a in fitted.attempts) == 21 * width
    assert len(fitted.trace) + fitted.trace_dropped == width


@given(
    width=st.integers(0, 30),
    text=st.text(max_size=50).map(lambda text: text * 60),
    scale=st.integers(0, 3000),
    limit=st.integers(600_000, 900_000),
)
def test_results_of_any_shape_fit(width: int, text: str, scale: int, limit: int) -> None:
    assert size(fit_result(monstrous_result(width, text, scale * 20), limit)) <= limit


def test_a_view_that_fits_is_shown_whole() -> None:
    whole = view(draft_nodes(chain(3)))

    assert fit_view(whole) is whole


def test_a_large_view_is_cut_to_its_first_nodes_and_says_how_many_are_gone() -> None:
    fitted = fit_view(view(monstrous_nodes(1000, "x" * 2000)))

    assert size(fitted) <= MAX_ANSWER_BYTES
    assert fitted.nodes_dropped == 1000 - len(fitted.nodes)
    assert len(fitted.nodes) > 100


def view(nodes: tuple[NodeReport, ...]) -> RunView:
    return RunView(
        run_id="run", session_id="s", goal="g", phase=RunPhase.EXECUTING, attempt=0, nodes=nodes, budget=BUDGET
    )
