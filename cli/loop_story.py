"""Agent loops as text for people: how a loop stands or ended, and its steps."""

import json
from collections.abc import Iterator, Sequence

from cli.answer_notes import is_partial
from cli.error_words import coded_error, error_line
from cli.plain_text import block, one_line
from cli.render import NOTE_CHARS, aligned, budget_lines, guardrail_lines
from harness.loop import LoopResult, LoopView, StepRecord

HEADINGS = ("call", "tool", "ok", "tries", "latency", "arguments", "note")
ARGUMENT_CHARS = 60


def story_of_loop_result(result: LoopResult, goal: str) -> Iterator[str]:
    """Return the lines that tell of a loop that has ended."""
    yield f"Run {result.run_id}: {result.status} after {_steps(result.steps_made)}"
    yield f"Goal: {one_line(goal)}"
    yield f"Model: {one_line(result.model)}"
    if result.error:
        yield error_line(result)
    yield from guardrail_lines(result)
    yield from budget_lines(result.budget)
    yield from _step_lines(result.steps)
    if result.steps_dropped:
        yield f"  {result.steps_dropped:,} calls are left out, the result would not fit in one message"
    if result.step_pages:
        yield f"  {sum(page.steps for page in result.step_pages):,} earlier calls are in pages that cannot be read here"
    if result.report is not None:
        yield from ("", "Partial answer" if is_partial(result) else "Answer", block(result.report))


def story_of_loop_view(view: LoopView) -> Iterator[str]:
    """Return the lines that tell of a loop under way."""
    yield f"Run {view.run_id}: {view.status or view.phase}, step {view.steps_made} of {view.max_steps}"
    yield f"Goal: {one_line(view.goal)}"
    yield f"Model: {one_line(view.model)}"
    yield f"Context: about {view.context_tokens:,} tokens"
    if view.in_flight:
        yield f"At work: {', '.join(map(one_line, view.in_flight))}"
    yield from budget_lines(view.budget)
    yield from _step_lines(view.steps)
    if view.steps and view.steps[0].number > 1:
        yield f"  these are the newest {len(view.steps)} calls; python starter.py trace {view.run_id} tells of all"


def step_cells(record: StepRecord) -> tuple[str, ...]:
    """Return what there is to say of a call, in the order of HEADINGS."""
    latency = "" if record.latency_ms is None else f"{record.latency_ms} ms"
    arguments = one_line(_json(record.arguments), ARGUMENT_CHARS) if record.arguments else ""
    outcome = "yes" if record.success else "no"
    tool, note = one_line(record.tool, ARGUMENT_CHARS), one_line(note_of(record), NOTE_CHARS)
    return (record.call, tool, outcome, str(record.tries), latency, arguments, note)


def note_of(record: StepRecord) -> str:
    """Return what came of a call: why it failed, where the result is, or the result."""
    if not record.success:
        return coded_error(record.error, record.error_code)
    if record.artifact is not None:
        return f"artifact {record.artifact.digest} ({record.artifact.size:,} bytes)"
    return "" if record.result is None else _json(record.result)


def _step_lines(records: Sequence[StepRecord]) -> Iterator[str]:
    if records:
        yield from ("", "Steps")
        rows = [HEADINGS, *map(step_cells, records)]
        yield from aligned((f"  {first}", *rest) for first, *rest in rows)


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
