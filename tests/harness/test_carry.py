from datetime import UTC, datetime, timedelta

from pydantic import BaseModel, JsonValue

from harness.budget import Budget, Ledger, Limits
from harness.carry import Carry, fit_carry, fit_result
from harness.errors import ErrorClass
from harness.run import AttemptRecord, RunPhase, RunResult, RunStatus, draft_nodes
from harness.trace import TraceEvent, TraceKind
from tests.builders import chain

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


def carry(paid: dict[str, JsonValue] | None = None, trace: tuple[TraceEvent, ...] = ()) -> Carry:
    return Carry(attempt=1, started_at=NOW, limits=Limits(), ledger=Ledger(), paid=paid or {}, trace=trace)


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
    return len(model.model_dump_json(exclude_unset=True).encode())


def test_what_fits_is_carried_whole() -> None:
    whole, done = carry({"a": "x"}, events(3)), result(events(3))

    assert fit_carry(whole) is whole
    assert fit_result(done) is done


def test_the_largest_reusable_results_go_first() -> None:
    fitted = fit_carry(carry({"small": "x" * 10, "huge": "x" * 5000, "big": "x" * 3000}, events(2)), 4500)

    assert list(fitted.paid) == ["small", "big"]
    assert fitted.trace == events(2)
    assert fitted.trace_dropped == 0
    assert size(fitted) <= 4500


def test_then_the_oldest_trace_events_go_and_are_counted() -> None:
    fitted = fit_carry(carry({"a": "x" * 100}, events(20)), 3000)

    assert fitted.paid == {}
    assert 0 < len(fitted.trace) < 20
    assert fitted.trace == events(20)[-len(fitted.trace) :]
    assert fitted.trace_dropped == 20 - len(fitted.trace)
    assert size(fitted) <= 3000


def test_dropped_events_add_up_over_the_chain() -> None:
    once = fit_carry(carry(trace=events(20)), 3000)

    assert fit_carry(once, 10).trace == ()
    assert fit_carry(once, 10).trace_dropped == 20


def test_result_loses_its_oldest_trace_events() -> None:
    fitted = fit_result(result(events(20), (attempt(2),)), 4000)

    assert 0 < len(fitted.trace) < 20
    assert fitted.trace_dropped == 20 - len(fitted.trace)
    assert fitted.attempts == (attempt(2),)
    assert size(fitted) <= 4000


def test_result_then_loses_the_nodes_of_earlier_attempts() -> None:
    fitted = fit_result(result(events(2), (attempt(100),)), 4000)

    assert fitted.trace == ()
    assert fitted.attempts == (attempt(100).model_copy(update={"nodes": ()}),)
    assert size(fitted) <= 4000
