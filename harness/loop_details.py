"""The Markdown that the Web UI shows as current details of an agent loop."""

from harness.details import budget_table, cells
from harness.loop import LoopView, StepRecord

MAX_ROWS = 30
"""Newest calls that are shown."""


def render_loop(view: LoopView) -> str:
    """Return the newest steps, and the budget, as Markdown."""
    status = view.status or view.phase
    steps = f"{view.steps_made} of {view.max_steps} steps"
    lines = [f"**{status}** · {steps} · about {view.context_tokens} tokens in view · model {view.model or 'not known'}"]
    lines += ["", *budget_table(view.budget)]
    if view.in_flight:
        lines += ["", f"at work: {', '.join(view.in_flight)}"]
    if view.steps:
        lines += ["", cells(("call", "tool", "ok", "tries", "ms", "note")), "| --- | --- | --- | --- | --- | --- |"]
        lines += map(_row, view.steps[-MAX_ROWS:])
    return "\n".join(lines)


def _row(step: StepRecord) -> str:
    latency = "" if step.latency_ms is None else str(step.latency_ms)
    return cells((step.call, step.tool, "yes" if step.success else "no", str(step.tries), latency, step.error or ""))
