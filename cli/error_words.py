"""How an ending and its error are named: the status with the code, the error with class and code."""

from cli.plain_text import one_line
from cli.run_kinds import Result
from harness.errors import ErrorCode


def ending(result: Result) -> str:
    """Return how a run ended, with the code of what ended it, such as `FAILED (GUARDRAIL_BLOCKED)`."""
    return coded(result.status, result.error_code)


def coded(status: str, code: object) -> str:
    """Return a status with an error code beside it, where there is one."""
    return f"{status} ({code})" if code else status


def error_line(result: Result) -> str:
    """Return the line that tells why a run did not go well, with class and code as far as they are known."""
    known = " ".join(word for word in (result.error_class, result.error_code) if word)
    return f"Error: {known}{': ' if known else ''}{one_line(result.error or '')}"


def coded_error(error: str | None, code: ErrorCode | None) -> str:
    """Return an error of a node or a call behind its code, as far as there are any."""
    return " ".join(word for word in (code, error) if word)
