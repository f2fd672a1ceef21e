"""Error codes, their classes, and the one table between them that drives both Temporal and the recovery policy."""

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import assert_never


class ErrorCode(StrEnum):
    """What went wrong, as one closed set for tools, models and the harness itself."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    MISSING_REQUIRED_ARGUMENT = "MISSING_REQUIRED_ARGUMENT"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    INVALID_OUTPUT = "INVALID_OUTPUT"
    """A model or a tool answered with something that is not what it promised."""
    OUTPUT_TRUNCATED = "OUTPUT_TRUNCATED"
    """A model's answer was cut by its token limit."""
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    MISSING_INFO = "MISSING_INFO"
    """A tool cannot answer because something must be found out first."""
    RATE_LIMITED = "RATE_LIMITED"
    TIMEOUT = "TIMEOUT"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    TOOL_EXECUTION_FAILED = "TOOL_EXECUTION_FAILED"
    AUTHENTICATION = "AUTHENTICATION"
    QUOTA_EXHAUSTED = "QUOTA_EXHAUSTED"
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    GUARDRAIL_BLOCKED = "GUARDRAIL_BLOCKED"
    UNCERTAIN_EFFECT = "UNCERTAIN_EFFECT"
    """A WRITE was lost in mid-call: nobody knows whether it happened."""
    ARTIFACT_LOST = "ARTIFACT_LOST"
    """The artifact store does not have a value that it was given, or has it damaged."""
    INTERNAL = "INTERNAL"


CANCELLED = "CANCELLED"
"""Failure type of an activity that stopped because the run was cancelled or ran out of time."""
UNKNOWN_TOOLKIT = "UNKNOWN_TOOLKIT"
"""Failure type of a run that asks for a toolkit that no worker serves; its message is the line to show."""
INVALID_REQUEST = "INVALID_REQUEST"
"""Failure type of a run whose request decodes but cannot be meant."""

MAX_ERROR_BYTES = 4_096
"""Bytes of an error text as it travels: it goes into history with every try, and into prompts."""
_GAP = " ... "


class ErrorClass(StrEnum):
    """What an error means for the run. Members are in ascending order of severity."""

    VALIDATION = "VALIDATION"
    MISSING_INFO = "MISSING_INFO"
    TRANSIENT = "TRANSIENT"
    FATAL = "FATAL"


def classify(code: ErrorCode | None) -> ErrorClass:
    """Return the class of an error code; what is unknown is FATAL.

    Source: harness-demo ErrorClassifier, widened.
    """
    match code:
        case (
            ErrorCode.UNKNOWN_TOOL
            | ErrorCode.MISSING_REQUIRED_ARGUMENT
            | ErrorCode.INVALID_ARGUMENT
            | ErrorCode.INVALID_OUTPUT
            | ErrorCode.OUTPUT_TRUNCATED
            | ErrorCode.PAYLOAD_TOO_LARGE
        ):
            return ErrorClass.VALIDATION
        case ErrorCode.MISSING_INFO:
            return ErrorClass.MISSING_INFO
        case ErrorCode.RATE_LIMITED | ErrorCode.TIMEOUT | ErrorCode.PROVIDER_UNAVAILABLE:
            return ErrorClass.TRANSIENT
        case (
            ErrorCode.TOOL_EXECUTION_FAILED
            | ErrorCode.AUTHENTICATION
            | ErrorCode.QUOTA_EXHAUSTED
            | ErrorCode.CONTEXT_OVERFLOW
            | ErrorCode.GUARDRAIL_BLOCKED
            | ErrorCode.UNCERTAIN_EFFECT
            | ErrorCode.ARTIFACT_LOST
            | ErrorCode.INTERNAL
            | None
        ):
            return ErrorClass.FATAL
        case _:  # pragma: no cover - mypy proves that it cannot happen
            assert_never(code)


def parse_code(text: str | None) -> ErrorCode:
    """Read an error code back from Temporal's failure type; an unknown type is INTERNAL."""
    try:
        return ErrorCode(text or "")
    except ValueError:
        return ErrorCode.INTERNAL


def most_severe(classes: Iterable[ErrorClass]) -> ErrorClass:
    """Return the most severe class; FATAL when there is none, because an unexplained failure is fatal."""
    order = list(ErrorClass)
    return max(classes, key=order.index, default=ErrorClass.FATAL)


def bounded(text: str, limit: int = 2000) -> str:
    """Cut error text to `limit` characters, keeping both ends, because it goes into history and prompts."""
    if len(text) <= limit:
        return text
    half = max(0, limit - 40) // 2
    return f"{text[:half]} [{len(text) - 2 * half} characters cut] {text[len(text) - half :]}"


def bounded_bytes(text: str, limit: int = MAX_ERROR_BYTES, *, kept: str = "") -> str:
    """Cut error text to `limit` bytes as it travels, keeping both ends; its own end says how much was cut.

    `kept` says where the whole text is. It comes last, because whoever cuts the text again keeps its end.
    """
    size = encoded_text_size(text)
    if size <= limit:
        return text
    note = f" [{size} bytes, cut{'; ' if kept else ''}{kept}]"
    half = max(0, limit - encoded_text_size(note) - len(_GAP)) // 2
    return f"{_fitting(text, half)}{_GAP}{_fitting(reversed(text), half)[::-1]}{note}"


def encoded_text_size(text: str) -> int:
    """Return the bytes of text as it travels, as JSON without its quotes: a control character takes six."""
    return len(json.dumps(text, ensure_ascii=False).encode(errors="replace")) - 2


def quoted(text: str, limit: int = 80) -> str:
    """Return text as one escaped, quoted word of at most `limit` characters before escaping; a cut one says so."""
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}... ({len(text)} characters)"


def listed(texts: Iterable[str], limit: int = 20) -> str:
    """Return texts quoted, with commas between, at most `limit` of them; "none" when there are none."""
    every = list(texts)
    shown = ", ".join(quoted(text) for text in every[:limit])
    return f"{shown} and {len(every) - limit} more" if len(every) > limit else shown or "none"


class ToolError(Exception):
    """The one way for a tool to fail on purpose.

    Say what is wrong, which value, and what would be right: the planner reads the message.
    """

    def __init__(self, code: ErrorCode, message: str, *, retry_after_s: float | None = None) -> None:
        """Create the error; `retry_after_s` delays the next try of a TRANSIENT code, in seconds."""
        # A tool may hand in anything, and its error must reach the planner all the same.
        self.code = ErrorCode(code) if code in set(ErrorCode) else ErrorCode.TOOL_EXECUTION_FAILED
        self.message = str(message)
        super().__init__(self.message)
        self.retry_after_s = retry_after_s


class NothingDoneError(ToolError):
    """A failure before anything was done: the call may be repeated even where the tool writes."""


class ReportedError(ToolError):
    """A failure that somebody else's server reports of a call: a tool that writes may have done it all the same."""


def _fitting(characters: Iterable[str], room: int) -> str:
    """Return the first characters that fit into so many bytes."""
    kept: list[str] = []
    for character in characters:
        room -= encoded_text_size(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept)
