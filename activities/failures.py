"""The activity boundary: any exception becomes a typed ApplicationError with the record of every try."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import ValidationError
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.try_ledger import TryLedger
from harness.calls import FailureDetails
from harness.errors import ErrorClass, ErrorCode, ToolError, bounded, classify
from harness.recovery import backoff
from harness.usage import Usage

CANCELLED = "CANCELLED"
"""Failure type of an activity that stopped because the run was cancelled or ran out of time."""


@asynccontextmanager
async def activity_boundary(ledger: TryLedger, usage: Callable[[], Usage]) -> AsyncIterator[None]:
    """Turn whatever the body raises into an ApplicationError that carries all tries, this one included.

    `usage` is read when the body failed: a failed try may have cost tokens.
    """
    try:
        yield
    except asyncio.CancelledError:
        details = activity.cancellation_details()
        if details is None or not details.cancel_requested:
            raise  # The worker shuts down: Temporal starts the try again elsewhere.
        ledger.record(ErrorCode.TIMEOUT, "cancelled", usage())
        raise ApplicationError("cancelled", _details(ledger), type=CANCELLED, non_retryable=True) from None
    except ApplicationError:
        raise
    except Exception as exc:  # noqa: BLE001 - the boundary: everything becomes typed here
        error = as_tool_error(exc)
        if not isinstance(exc, ToolError):
            activity.logger.warning("unforeseen exception", exc_info=exc)
        ledger.record(error.code, bounded(error.message), usage())
        # Without its cause: Temporal would put the text of the whole chain into history, whatever its size.
        raise _application_error(error, ledger) from None


def as_tool_error(exc: Exception) -> ToolError:
    """Name the code of any exception. What nobody foresaw is TOOL_EXECUTION_FAILED, which is fatal."""
    match exc:
        case ToolError():
            return exc
        case ValidationError():
            return ToolError(ErrorCode.INVALID_ARGUMENT, describe_validation(exc))
        case TimeoutError():
            return ToolError(ErrorCode.TIMEOUT, str(exc) or "the time limit of the call was reached")
        case ConnectionError():
            return ToolError(ErrorCode.PROVIDER_UNAVAILABLE, f"{type(exc).__name__}: {exc}")
        case _:
            return ToolError(ErrorCode.TOOL_EXECUTION_FAILED, f"{type(exc).__name__}: {exc}")


def describe_validation(exc: ValidationError, limit: int = 10) -> str:
    """Return pydantic's findings field by field, without the values: they may be large or private."""
    errors = exc.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in error['loc']) or '(value)'}: {error['msg']}" for error in errors[:limit]]
    more = [f"and {len(errors) - limit} more"] if len(errors) > limit else []
    return bounded("; ".join(lines + more))


def _application_error(error: ToolError, ledger: TryLedger) -> ApplicationError:
    is_transient = classify(error.code) is ErrorClass.TRANSIENT
    wait = backoff(ledger.try_number, jitter=ledger.jitter, retry_after_s=error.retry_after_s)
    return ApplicationError(
        _encodable(bounded(error.message)),
        _details(ledger),
        type=error.code,
        non_retryable=not is_transient,
        next_retry_delay=wait if is_transient else None,
    )


def _details(ledger: TryLedger) -> FailureDetails:
    return FailureDetails(tries=ledger.tries, try_number=ledger.try_number)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 payload can carry."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
