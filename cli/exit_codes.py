"""How the command line ends: its exit codes, and the one line that says why."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of the process."""

    SUCCEEDED = 0
    FAILED = 1
    """The run failed, or something inside did."""
    USAGE = 2
    """Bad usage or configuration: whoever called can put it right."""
    BUDGET_EXHAUSTED = 3
    CANCELLED = 4
    INTERRUPTED = 130
    """Only watching ended, the run goes on. 130 is what shells use for Ctrl-C."""


class Refusal(Exception):  # noqa: N818 - it ends the command, and is no bug
    """Ends the command with one line on stderr: what is wrong, and what would be right."""

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        """Create the refusal."""
        super().__init__(message)
        self.message = message
        self.code = code
