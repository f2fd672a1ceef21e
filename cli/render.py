"""Runs as text for people: the report, the whole story of a run, and its budget."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from pydantic_core import to_jsonable_python

from cli.answer_notes import ungrounded_figures
from cli.error_words import coded_error, ending, error_line
from cli.plain_text import block, one_line
from cli.run_kinds import Result
from harness.budget import BudgetSnapshot
from harness.run import AttemptRecord, NodeReport, RunResult, RunView

NOTE_CHARS = 100


class BudgetRow(NamedTuple):
    """One limit and what is used of it."""

    name: str
    utilisation: float
    text: str


def budget_rows(budget: BudgetSnapshot) -> tuple[BudgetRow, ...]:
    """Return the four limits with what is used of them."""
    about = "about " if budget.estimated else ""
    least = "" if budget.cost_known else "at least "
    return (
        BudgetRow("tokens", budget.tokens / budget.max_tokens, f"{about}{budget.tokens:,} of {budget.max_tokens:,}"),
        BudgetRow(
            "tool calls",
            budget.tool_calls / budget.max_tool_calls,
            f"{budget.tool_calls:,} of {budget.max_tool_calls:,}",
        ),
        BudgetRow(
            "cost",
            float(budget.cost_usd / budget.max_cost_usd),
            f"{least}{_usd(budget.cost_usd)} of {_usd(budget.max_cost_usd)} USD",
        ),
        BudgetRow(
            "wall clock",
            budget.elapsed / budget.max_wall_clock,
            f"{_seconds(budget.elapsed)} of {_seconds(budget.max_wall_clock)} s",
        ),
    )


def outcome_line(result: Result) -> str:
    """Return how a run ended, in one line."""
    used = ", ".join(f"{row.name} {row.text}" for row in budget_rows(result.budget))
    why = f": {one_line(result.error, 500)}" if result.error else ""
    return f"Run {result.run_id} ended {ending(result)}{why} ({used})"


def story_of_result(result: RunResult, goal: str) -> Iterator[str]:
    """Return the lines that tell of a run that has ended."""
    yield f"Run {result.run_id}: {result.status}"
    yield f"Goal: {one_line(goal)}"
    yield f"Model: {one_line(result.model)}"
    if result.error:
        yield error_line(result)
    if result.verdict:
        yield f"Verdict: {one_line(result.verdict.reason)}"
    yield from guardrail_lines(result)
    yield from budget_lines(result.budget)
    yield from _plan_lines(result.plan)
    yield from _attempt_lines(result.attempts)
    if result.report is not None:
        yield from ("", "Report", block(result.report))


def story_of_view(view: RunView) -> Iterator[str]:
    """Return the lines that tell of a run under way."""
    yield f"Run {view.run_id}: {view.status or view.phase}, attempt {view.attempt}"
    yield f"Goal: {one_line(view.goal)}"
    yield f"Model: {one_line(view.model)}"
    yield from budget_lines(view.budget)
    yield from _plan_lines(view.nodes)
    if view.nodes_dropped:
        counts = ", ".join(f"{count} {status}" for status, count in view.counts.items())
        yield f"  and {view.nodes_dropped} more nodes; in all {counts}"


def guardrail_lines(result: Result) -> Iterator[str]:
    """Return the lines that tell which guardrails ran, and which figures of the answer come from nowhere."""
    if result.guardrails:
        yield f"Guardrails: {', '.join(result.guardrails)}"
    if result.ungrounded:
        yield f"Ungrounded: {ungrounded_figures(result)}"


def budget_lines(budget: BudgetSnapshot) -> Iterator[str]:
    """Return the lines that tell what is used of each limit."""
    yield ""
    yield f"Budget, pressure {budget.pressure:.2f}"
    yield from aligned((f"  {row.name}", row.text) for row in budget_rows(budget))


def aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Align rows of equal length."""
    table = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def as_json(record: object) -> str:
    """Return a model or dataclass as JSON in ASCII, which every terminal and pipe can carry."""
    import json

    return json.dumps(to_jsonable_python(record))


def _plan_lines(nodes: Sequence[NodeReport]) -> Iterator[str]:
    if nodes:
        yield from ("", "Plan")
        yield from aligned([("  node", "tool", "status", "tries", "latency", "tokens", "note"), *map(_node_row, nodes)])


def _attempt_lines(attempts: Sequence[AttemptRecord]) -> Iterator[str]:
    if attempts:
        yield from ("", "Earlier attempts")
    for attempt in attempts:
        yield f"  {attempt.attempt}: {attempt.error_class} while {attempt.phase}: {one_line(attempt.error)}"
        yield from (f"  {line}" for line in aligned(map(_node_row, attempt.nodes)))


def _node_row(report: NodeReport) -> tuple[str, ...]:
    latency = "" if report.latency_ms is None else f"{report.latency_ms} ms"
    tokens = f"{report.usage.total_tokens:,}" if report.usage.model else ""
    return (
        f"  {one_line(report.node.id)}",
        *(one_line(report.node.tool), report.status, str(report.tries), latency, tokens),
        one_line(node_note(report), NOTE_CHARS),
    )


def node_note(report: NodeReport) -> str:
    """Return what there is to say of a node: why it failed, or that its result was there already."""
    return coded_error(report.error, report.error_code) or ("reused" if report.reused else "")


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.1f}".removesuffix(".0")


def _usd(amount: Decimal) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")
