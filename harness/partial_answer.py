"""The partial answer of an agent loop that ended without one of its model: why, and what it has found."""

import json
from collections.abc import Iterator, Sequence

from harness.artifact import PREVIEW_CHARS
from harness.errors import bounded
from harness.loop import StepRecord
from harness.memory import MEMORY_NAMES, REMEMBER

MAX_CHARS = 4000
MAX_WHY_CHARS = 500
SHOWN_CHARS = 600
"""Characters of one result."""


def partial_answer(why: str, records: Sequence[StepRecord]) -> str | None:
    """Say what stopped the loop, and show the newest result of each call and each fact, newest first.

    It has at most 4,000 characters; what does not fit is left out from the end on, and counted. None when no call was
    made: then there is nothing to say beside why.
    """
    lines = [f"Partial answer: {bounded(why, MAX_WHY_CHARS)}.", ""]
    found = list(_found(records))
    if not found:
        return "\n".join([*lines, _nothing(records)]) if records else None
    lines.append("Found, newest first:")
    room = MAX_CHARS - sum(len(line) + 1 for line in lines) - 40
    for place, line in enumerate(found):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*lines, f"{len(found) - place} more are in the steps."])
        lines.append(line)
    return "\n".join(lines)


def _found(records: Sequence[StepRecord]) -> Iterator[str]:
    told: set[str] = set()
    for record in reversed(records):
        if not record.success:
            continue
        subject = _subject(record)
        if subject not in told and (record.tool == REMEMBER or record.tool not in MEMORY_NAMES):
            told.add(subject)
            yield f"- {bounded(subject, PREVIEW_CHARS)} (step {record.number}): {_preview(record)}"


def _subject(record: StepRecord) -> str:
    """Return what was called with what: the same call is told once."""
    if record.tool == REMEMBER:
        return f"fact {record.arguments.get('key')}"
    arguments = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in sorted(record.arguments.items()))
    return f"{record.tool}({', '.join(arguments)})" if record.arguments else record.tool


def _preview(record: StepRecord) -> str:
    if record.artifact is not None:
        return f"{record.artifact.preview} [cut; artifact {record.artifact.digest}]"
    value = record.arguments.get("value") if record.tool == REMEMBER else record.result
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} [cut]"


def _nothing(records: Sequence[StepRecord]) -> str:
    error = next((record.error for record in reversed(records) if record.error), None)
    return f"Nothing was found. The last error: {bounded(error, SHOWN_CHARS)}" if error else "Nothing was found."
