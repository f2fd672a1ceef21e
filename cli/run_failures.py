"""Why a run has no result, in one line."""

from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, CancelledError, TerminatedError

from cli.exit_codes import ExitCode, Refusal
from harness.errors import UNKNOWN_TOOLKIT, ErrorCode


def failure(run_id: str, error: WorkflowFailureError) -> Refusal:
    """Say in one line why a run failed inside Temporal, which runs that merely fail do not."""
    match error.cause:
        case ApplicationError() as cause if cause.type == UNKNOWN_TOOLKIT:
            return Refusal(cause.message)
        case CancelledError():
            return Refusal(f"Run {run_id} was cancelled and has no result.", ExitCode.CANCELLED)
        case TerminatedError() as cause:
            return Refusal(f"Run {run_id} was terminated and has no result: {cause.message}", ExitCode.FAILED)
        case _:
            return Refusal(f"Run {run_id} failed inside Temporal: {cause_of(error)}", ExitCode.FAILED)


def unreadable(run_id: str, status: str, error: ApplicationError) -> Refusal:
    """Say in one line that a run has ended whose result is not to be had here."""
    is_lost = error.type == ErrorCode.ARTIFACT_LOST
    code = ExitCode.USAGE if is_lost else ExitCode.FAILED
    ended = f"ended {status}" if status else "ended"
    return Refusal(f"Run {run_id} has {ended}, but its result cannot be read: {error.message}.", code)


def cause_of(error: WorkflowFailureError | WorkflowUpdateFailedError) -> str:
    """Return what lies behind an error of Temporal, with its type."""
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return f"{cause.type}: {cause.message}" if cause.type else cause.message
    return str(cause)
