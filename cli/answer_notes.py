"""What people must know of an answer before they rely on it: that it is partial, and what the guardrails found."""

from collections.abc import Iterator

from cli.error_words import ending
from cli.guard_flags import findings
from cli.plain_text import one_line
from cli.run_kinds import Result
from harness.guardrail import Guardrail
from harness.loop import LoopStatus
from harness.run import RunStatus

_WHOLE = frozenset({RunStatus.SUCCEEDED, LoopStatus.COMPLETED})
_TOLD_ALREADY = f"{Guardrail.GROUNDING}:"
"""How findings begin that the line on ungrounded figures tells."""
_NAMED = 3
"""Findings that are told; the trace has all."""
_MAX_FIGURES = 20
_TEXT_CHARS = 300


def answer_notes(result: Result) -> Iterator[str]:
    """Return a line each for what speaks against taking the answer as it is."""
    if is_partial(result):
        why = f": {one_line(result.error, _TEXT_CHARS)}" if result.error else ""
        yield f"The answer is partial, the run ended {ending(result)}{why}"
    if result.ungrounded:
        yield f"Ungrounded: no result, goal or memory has these figures of the answer: {ungrounded_figures(result)}"
    finds = [find for find in findings(result.trace) if not (find == result.error or find.startswith(_TOLD_ALREADY))]
    if finds:
        named = "; ".join(one_line(find, _TEXT_CHARS) for find in finds[:_NAMED])
        more = f"; and {len(finds) - _NAMED:,} more" if len(finds) > _NAMED else ""
        yield f"Guardrails found: {named}{more}. All of it: python starter.py trace {result.run_id}"


def is_partial(result: Result) -> bool:
    """Return whether there is an answer, but not the one that was asked for."""
    return result.report is not None and result.status not in _WHOLE


def ungrounded_figures(result: Result) -> str:
    """Return the figures of an answer that come from nowhere, in one line."""
    named = ", ".join(one_line(figure) for figure in result.ungrounded[:_MAX_FIGURES])
    more = len(result.ungrounded) - _MAX_FIGURES
    return f"{named} and {more:,} more" if more > 0 else named
