"""Text for a terminal: what models, tools and users write must not move the cursor, colour, or hide anything."""

import re
import sys
from contextlib import suppress

from cli.exit_codes import ExitCode, Refusal

# Control characters, lone surrogates, line separators and the marks that turn the direction of text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: str, limit: int | None = None) -> str:
    """Return text as one line: white space runs become one space, the rest of what is unsafe is shown as its code."""
    line = _UNSAFE.sub(_code, " ".join(text.split()))
    return line if limit is None or len(line) <= limit else line[: limit - 3] + "..."


def block(text: str) -> str:
    """Return text of many lines with whatever is unsafe shown as its code."""
    return _UNSAFE_IN_BLOCK.sub(_code, text.replace("\r\n", "\n"))


def say(text: str) -> None:
    """Print one line on stderr, where everything goes that is not the answer. Nobody has to read it."""
    if sys.stderr is None:  # closed by whoever started this process; print would take stdout instead
        return
    with suppress(OSError, ValueError):
        print(_UNSAFE.sub(_code, text.replace("\n", " ")), file=sys.stderr, flush=True)


def answer(*lines: str) -> None:
    """Print the answer on stdout; refuse to end well when it cannot be written."""
    if sys.stdout is None:
        raise AnswerLostError("it is closed")
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except OSError as error:
        raise AnswerLostError(error.strerror) from error


class AnswerLostError(Refusal):
    """Stdout is closed or full."""

    def __init__(self, reason: str | None) -> None:
        """Create the refusal."""
        super().__init__(f"The answer could not be written to stdout ({reason}).", ExitCode.FAILED)


def _code(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - the last code of one byte
