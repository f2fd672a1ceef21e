"""The activity boundary: any exception becomes a typed ApplicationError with the record of every try."""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.artifacts import ArtifactStore, owner_of_activity
from activities.encodable import encodable
from activities.guardrails.vault import Vault
from activities.model.request import ModelError
from activities.model.scrubbing import hide
from activities.off_loop import off_loop
from activities.try_ledger import TryLedger
from harness.calls import FailureDetails
from harness.catalog import USUAL_BACKOFF, Backoff
from harness.errors import (
    CANCELLED,
    MAX_ERROR_BYTES,
    ErrorClass,
    ErrorCode,
    NothingDoneError,
    ToolError,
    bounded,
    bounded_bytes,
    classify,
    encoded_text_size,
)
from harness.guardrail import GuardReport
from harness.recovery import backoff
from harness.usage import Usage

KEEP_LIMIT_S = 2
"""How long a failed try may take to keep the text of its error; Temporal gives it a few seconds after its own limit."""


@dataclass(slots=True)
class ActivityBoundary:
    """Turns whatever its body raises into an ApplicationError that carries all tries, this one included."""

    ledger: TryLedger
    usage: Callable[[], Usage]
    """Read when the body failed: a failed try may have cost tokens."""
    secrets: tuple[str, ...] = ()
    """Texts that get neither into the error nor into a log."""
    store: ArtifactStore | None = None
    """Keeps the whole text of an error that is too long for history."""
    waits: Backoff = USUAL_BACKOFF
    """Waits between tries."""
    vault: Vault | None = None
    """Takes private values out of the error; None where nothing but texts with placeholders can get into one."""
    guard: Callable[[], GuardReport | None] = lambda: None
    """Read when the body failed: what the guardrails say of its model calls."""

    async def __aenter__(self) -> None:
        """Begin the body."""

    async def __aexit__(self, kind: object, exc: BaseException | None, trace: object) -> None:
        """End the body."""
        # Without its cause: Temporal would put the text of the whole chain into history, whatever its size.
        if isinstance(exc, asyncio.CancelledError):
            raise self._cancelled(exc) from None
        if exc is not None and not isinstance(exc, GeneratorExit):  # that one closes the coroutine
            raise await self._typed(exc) from None

    async def _typed(self, exc: BaseException) -> BaseException:
        error = as_tool_error(exc)
        if isinstance(error, NothingDoneError):
            self.ledger.has_begun = False
        try:
            if not isinstance(exc, ToolError) or exc.__cause__ is not None:
                trace = hide("".join(traceback.format_exception(exc)), self.secrets)
                activity.logger.warning("a call failed\n%s", await self._hidden(trace))
            message = await _bounded(await self._masked(encodable(hide(error.message, self.secrets))), self.store)
        except asyncio.CancelledError as cancelled:
            return self._cancelled(cancelled)
        self.ledger.record(error.code, message, self.usage(), falls_back=_falls_back(error))
        return self._application_error(error, message)

    async def _masked(self, text: str) -> str:
        """Return an error text with placeholders; when they cannot be kept, nothing can bring the values back."""
        if self.vault is None:
            return text
        owner = owner_of_activity()
        try:
            async with asyncio.timeout(KEEP_LIMIT_S):
                return await self.vault.mask(owner, text)
        except (ToolError, TimeoutError) as exc:
            activity.logger.warning("private values of an error were not kept: %s", exc)
            return await self._hidden(text)

    async def _hidden(self, text: str) -> str:
        """Return a text with the kinds of its private values in their places."""
        if self.vault is None:
            return text
        vault, owner = self.vault, owner_of_activity()
        return await off_loop(lambda: vault.hidden(owner, text), size=len(text))

    def _cancelled(self, exc: asyncio.CancelledError) -> BaseException:
        """Return what a cancelled try ends with: it depends on who cancelled it."""
        details = activity.cancellation_details()
        if details is None:
            return self._failed(ToolError(ErrorCode.TOOL_EXECUTION_FAILED, "the tool cancelled itself"))
        if details.cancel_requested:
            self.ledger.record(ErrorCode.TIMEOUT, "cancelled", self.usage())
            # Benign: somebody wanted it, so it is neither logged as a failure nor counted as one.
            benign = ApplicationErrorCategory.BENIGN
            return ApplicationError("cancelled", self._details(), type=CANCELLED, non_retryable=True, category=benign)
        if details.worker_shutdown:
            return self._failed(ToolError(ErrorCode.TIMEOUT, "the worker was stopped"))
        return exc  # The server knows this try no more, or has paused it: whatever it ends with is not heard.

    def _failed(self, error: ToolError) -> ApplicationError:
        self.ledger.record(error.code, error.message, self.usage())
        return self._application_error(error, error.message)

    def _application_error(self, error: ToolError, message: str) -> ApplicationError:
        falls_back, ledger = _falls_back(error), self.ledger
        is_retryable = falls_back or classify(error.code) is ErrorClass.TRANSIENT
        # How long the failed provider wants to be left alone says nothing about the fallback.
        retry_after_s = None if falls_back else error.retry_after_s
        wait = backoff(ledger.try_number, jitter=ledger.jitter, retry_after_s=retry_after_s, waits=self.waits)
        return ApplicationError(
            message,
            self._details(),
            type=error.code,
            non_retryable=not is_retryable,
            next_retry_delay=wait if is_retryable else None,
        )

    def _details(self) -> FailureDetails:
        """Return the details with the fields that say something only: each byte is kept in history."""
        ledger, guard = self.ledger, self.guard()
        begun = {} if ledger.has_begun else {"has_begun": False}
        guarded = {} if guard is None else {"guard": guard}
        return FailureDetails.model_validate(
            {"tries": ledger.tries, "try_number": ledger.try_number, **begun, **guarded}
        )


def as_tool_error(exc: BaseException) -> ToolError:
    """Name the code of any exception. What nobody foresaw is TOOL_EXECUTION_FAILED, which is fatal."""
    match exc:
        case ToolError():
            return exc
        case ValidationError():
            return ToolError(ErrorCode.INVALID_ARGUMENT, describe_validation(exc))
        case TimeoutError():
            return ToolError(ErrorCode.TIMEOUT, _text(exc) or "the time limit of the call was reached")
        case ConnectionError():
            return ToolError(ErrorCode.PROVIDER_UNAVAILABLE, f"{type(exc).__name__}: {_text(exc)}")
        case _:
            return ToolError(ErrorCode.TOOL_EXECUTION_FAILED, f"{type(exc).__name__}: {_text(exc)}")


def _text(exc: BaseException) -> str:
    """Return the text of an exception, whose own code may fail."""
    try:
        return str(exc)
    except Exception:  # noqa: BLE001 - the text of a tool's exception is a tool's code
        return "(its text cannot be read)"


def describe_validation(exc: ValidationError, limit: int = 10) -> str:
    """Return pydantic's findings field by field, without the values: they may be large or private."""
    errors = exc.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in error['loc']) or '(value)'}: {error['msg']}" for error in errors[:limit]]
    more = [f"and {len(errors) - limit} more"] if len(errors) > limit else []
    return bounded("; ".join(lines + more))


async def _bounded(text: str, store: ArtifactStore | None) -> str:
    """Cut an error text that is too long, and keep the whole of it; a store that fails changes nothing else."""
    if encoded_text_size(text) <= MAX_ERROR_BYTES or store is None:
        return bounded_bytes(text)
    try:
        async with asyncio.timeout(KEEP_LIMIT_S):
            digest = await store.put(owner_of_activity(), text.encode())
    except (ToolError, TimeoutError) as exc:
        activity.logger.warning("the whole text of an error was not kept: %s", exc)
        return bounded_bytes(text)
    return bounded_bytes(text, kept=f"whole text: artifact {digest}")


def _falls_back(error: ToolError) -> bool:
    return isinstance(error, ModelError) and error.falls_back
