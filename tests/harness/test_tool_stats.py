"""Figures of tools, from events written by hand."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from harness.tool_stats import UNKNOWN, ToolStats, percentile, stats_of, wilson_lower_bound
from harness.trace import TraceEvent, TraceKind
from tests.builders import NO_BUDGET


def event(
    kind: TraceKind,
    tool: str = "get",
    *,
    status: str = "",
    node: str = "n",
    attempt: int = 0,
    ms: int | None = None,
    **data: JsonValue,
) -> TraceEvent:
    return TraceEvent(
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
        run_id="run-1",
        session_id="",
        attempt=attempt,
        kind=kind,
        node_id=node,
        status=status,
        latency_ms=ms,
        budget=NO_BUDGET,
        data={"tool": tool, **data},
    )


def done(tool: str = "get", *, ms: int | None = 10, **data: JsonValue) -> TraceEvent:
    return event(TraceKind.NODE_FINISH, tool, status="DONE", ms=ms, **data)


def failed(code: str | None, tool: str = "get", *, tries: int = 1, node: str = "n", attempt: int = 0) -> TraceEvent:
    status = "FAILED"
    return event(TraceKind.NODE_FAIL, tool, status=status, node=node, attempt=attempt, errorCode=code, tries=tries)


def retried(code: str, number: int, tool: str = "get") -> TraceEvent:
    return event(TraceKind.NODE_RETRY, tool, ms=5, errorCode=code, **{"try": number})


def only(*events: TraceEvent) -> ToolStats:
    (stats,) = stats_of([events])
    return stats


def test_every_try_is_a_call_and_latencies_are_of_those_that_succeeded() -> None:
    stats = only(
        event(TraceKind.NODE_START),
        retried("TIMEOUT", 1),
        retried("RATE_LIMITED", 2),
        done(ms=30, tries=3),
    )

    assert stats == ToolStats(
        tool="get",
        calls=3,
        failures={"RATE_LIMITED": 1, "TIMEOUT": 1},
        failure_rate=pytest.approx(2 / 3),
        failure_rate_at_least=pytest.approx(0.2077, abs=1e-4),
        retries=2,
        reused=0,
        cancelled=0,
        p50_ms=30,
        p95_ms=30,
        max_ms=30,
    )


def test_the_last_try_of_a_node_that_failed_counts_once() -> None:
    stats = only(retried("TIMEOUT", 1), retried("TIMEOUT", 2), failed("AUTHENTICATION", tries=3))

    assert (stats.calls, stats.failures, stats.retries) == (3, {"TIMEOUT": 2, "AUTHENTICATION": 1}, 2)
    assert (stats.p50_ms, stats.p95_ms, stats.max_ms) == (None, None, None)


def test_a_node_that_is_tried_again_after_a_pause_counts_its_new_tries_only() -> None:
    events = (failed("TIMEOUT", tries=1), failed("INVALID_ARGUMENT", tries=1), retried("TIMEOUT", 2), done(tries=3))

    stats = only(*events)

    assert (stats.calls, stats.failures) == (3, {"TIMEOUT": 2})


def test_a_node_that_failed_without_a_call_is_no_call() -> None:
    assert stats_of([[failed("INVALID_ARGUMENT", tries=0)]]) == ()


def test_attempts_and_nodes_count_by_themselves() -> None:
    stats = only(failed("TIMEOUT"), failed("TIMEOUT", attempt=1), failed("TIMEOUT", node="m"), failed(None, node="o"))

    assert (stats.calls, stats.failures) == (4, {"TIMEOUT": 3, UNKNOWN: 1})


def test_what_is_reused_or_cancelled_is_no_call() -> None:
    stats = only(
        event(TraceKind.NODE_REUSE, status="DONE"),
        event(TraceKind.NODE_FAIL, status="CANCELLED", errorCode=None, tries=1),
    )

    assert (stats.calls, stats.failures, stats.failure_rate) == (0, {}, 0)
    assert (stats.reused, stats.cancelled) == (1, 1)


def test_events_of_no_tool_and_skipped_nodes_count_for_nothing() -> None:
    skipped = event(TraceKind.NODE_SKIP, status="SKIPPED")

    assert stats_of([[event(TraceKind.RUN_START, tool=None), skipped], []]) == ()  # type: ignore[arg-type]


def test_a_success_without_a_latency_is_a_call() -> None:
    assert (only(done(ms=None)).calls, only(done(ms=None)).max_ms) == (1, None)


def test_the_worst_tool_is_the_one_whose_failures_are_proven() -> None:
    unlucky = [failed("TIMEOUT", "unlucky")]
    broken = [*(failed("TIMEOUT", "broken", node=f"n{number}") for number in range(90)), *[done("broken")] * 10]
    slow, fast, also_fast = done("slow", ms=900), done("fast", ms=9), done("also_fast", ms=9)

    stats = stats_of([[fast, also_fast, slow], unlucky, broken])

    assert [each.tool for each in stats] == ["broken", "unlucky", "slow", "also_fast", "fast"]


# Reference values: Wilson (1927) without continuity correction, as statsmodels' proportion_confint(method="wilson").
@pytest.mark.parametrize(
    ("failures", "calls", "bound"),
    [(0, 0, 0), (0, 10, 0), (1, 1, 0.206549), (1, 10, 0.017876), (5, 10, 0.236593), (90, 100, 0.825634)],
)
def test_the_bound_of_few_calls_is_low(failures: int, calls: int, bound: float) -> None:
    assert wilson_lower_bound(failures, calls) == pytest.approx(bound, abs=1e-5)


@pytest.mark.parametrize(("percent", "value"), [(50, 10), (95, 19), (100, 20)], ids=["median", "p95", "max"])
def test_percentiles_are_numbers_that_were_measured(percent: int, value: int) -> None:
    assert percentile(list(range(1, 21)), percent) == value
    assert percentile([7], percent) == 7
    assert percentile([], percent) is None
