"""What an agent loop says to its model beside the results, and which part of it comes from elsewhere."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from harness.errors import ErrorCode, bounded, listed, quoted
from harness.loop_calls import CallResult

MAX_REASON_CHARS = 300
MAX_KNOWN_CHARS = 200
"""Characters of a result that a hint repeats."""


def split_note(note: str) -> tuple[str, str]:
    """Part a note into the harness's words and the text from elsewhere that it repeats, as JSON; empty for none.

    Where the latter is put into a prompt, it belongs in a fence.
    """
    words, _, known = note.partition("\n")
    return words, known


def repeat_hint(result: CallResult, times: int) -> str:
    """Tell the model that a call gave the same again, and what that is."""
    outcome = "failed in the same way" if result.code else "gave the same result"
    remedy = (
        "Do not make this call again: change its arguments, take another tool, or answer with what there is."
        if result.code
        else "Use the known result and do not make this call again: it will not change."
    )
    text = f"The call of {quoted(result.tool)} with these arguments {outcome} {times} times. {remedy}"
    return f"{text} The known {'error' if result.code else 'result'} begins:\n{_known(result)}"


def repeat_reason(result: CallResult, times: int) -> str:
    """Say why a loop closes that makes the same call again and again."""
    outcome = f"failed with {result.code}" if result.code else "gave the same result"
    return f"it repeats itself: tool {quoted(result.tool)} {outcome} {times} times for the same arguments"


def idle_reason(steps: int) -> str:
    """Say why a loop closes that finds nothing new."""
    return f"no progress: {steps} steps in a row gave no new result or fact"


def steps_reason(max_steps: int) -> str:
    """Say why a loop closes that has made its steps."""
    return f"the limit of {max_steps} steps is reached"


def useless_reason(times: int, problem: str) -> str:
    """Say why a loop ends whose model gives neither calls nor an answer."""
    return f"the model's last {times} outputs could not be used; the last one: {problem}"


def failed_answer_note(code: ErrorCode, problem: str, times: int) -> str:
    """Tell the model that its output was of no use. No two in a row are the same: neither are the prompts then."""
    remedy = "Keep it shorter. " if code is ErrorCode.OUTPUT_TRUNCATED else ""
    text = f"{times} of your outputs in a row could not be used, the last one: {code}. {remedy}"
    quote = _in_a_line(bounded(problem, MAX_KNOWN_CHARS))
    return f"{text}Call tools with valid arguments, or answer. What was wrong:\n{quote}"


def correction_note(figures: Sequence[str]) -> str:
    """Tell the model which figures of its answer come from nowhere."""
    named = bounded(listed(figures), MAX_REASON_CHARS)
    return (
        f"These figures of your answer are in no result, goal or memory: {named}. Answer again: use figures of results "
        "only, or leave them out."
    )


def closing_note(reason: str) -> str:
    """Tell the model that it must answer now."""
    why = bounded(" ".join(reason.split()), MAX_REASON_CHARS)
    return f"No more tools can be called: {why}. Answer the goal now with what there is, and say what is missing."


def _known(result: CallResult) -> str:
    if result.code:
        return _in_a_line(bounded(result.message, MAX_KNOWN_CHARS))
    if result.artifact is not None:
        return _in_a_line(bounded(result.artifact.preview, MAX_KNOWN_CHARS))
    return bounded(_in_a_line(result.value), MAX_KNOWN_CHARS)


def _in_a_line(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
