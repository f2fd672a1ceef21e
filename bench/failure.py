"""What ends the benchmark."""

from cli.exit_codes import ExitCode, Refusal


class BenchFailure(Refusal):
    """A run that did not do its work: figures without it would say nothing."""

    def __init__(self, message: str) -> None:
        """Create the failure."""
        super().__init__(message, ExitCode.FAILED)


class Unsupported(Exception):  # noqa: N818 - a case is left out, nothing has failed
    """A contender cannot do this case at all; the message says why."""
