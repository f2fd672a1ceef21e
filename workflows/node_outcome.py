"""How an activity ended, read back from Temporal: its reply or its code, and every try that it made."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, RetryState
from temporalio.exceptions import TimeoutError as TemporalTimeoutError

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue, TypeAdapter, ValidationError

    from harness.calls import FailureDetails
    from harness.errors import CANCELLED, ErrorCode, parse_code
    from harness.guardrail import GuardReport
    from harness.usage import NO_USAGE, TryRecord, Usage

_LEDGER = TypeAdapter(tuple[TryRecord, ...])


@dataclass(frozen=True)
class ActivityFailure:
    """Why an activity gave no result."""

    code: ErrorCode
    message: str
    tries: tuple[TryRecord, ...]
    """Recorded tries; one that was lost with its worker is not among them."""
    tries_made: int
    kind: str = ""
    """Temporal's failure type, which is the code or a type of its own."""
    was_cancelled: bool = False
    was_waiting: bool = False
    """Whether it was cancelled while no worker had it: before its first try, or between two."""
    has_begun: bool = True
    """False when the last try is known to have failed before it called anything."""
    agent_calls: int | None = None
    """Calls that an agent node has made; None for an activity."""
    written: tuple[str, ...] = ()
    """Keys of what an agent node has written."""
    guard: GuardReport | None = None
    """What the guardrails say of it; None when it asked no model."""
    is_exact: bool = True
    """False when the number of tries is an upper bound: Temporal does not tell how many a cancelled activity made."""

    @property
    def calls_made(self) -> int:
        """Return how many tool calls are charged."""
        return self.tries_made if self.agent_calls is None else self.agent_calls

    @property
    def usage(self) -> Usage:
        """Return what all tries used together."""
        return total_usage(self.tries)


def failure_of(handle: "asyncio.Task[Any]", *, granted_tries: int) -> ActivityFailure | None:
    """Return why an activity that has ended failed, or None when it has a result."""
    error = asyncio.CancelledError() if handle.cancelled() else handle.exception()
    return None if error is None else read_failure(error, granted_tries=granted_tries)


def read_failure(error: BaseException, *, granted_tries: int) -> ActivityFailure:
    """Read the failure of an activity that was granted so many tries."""
    cause = error.cause if isinstance(error, ActivityError) else error
    match cause:
        case ApplicationError(type=str(kind)):
            details = _details(cause.details)
            return ActivityFailure(
                code=ErrorCode.TIMEOUT if kind == CANCELLED else _code(kind),
                message=cause.message,
                tries=details.tries if details else (),
                tries_made=details.try_number if details else granted_tries,
                kind=kind,
                was_cancelled=kind == CANCELLED,
                has_begun=details is None or details.has_begun,
                agent_calls=details.tool_calls if details else None,
                written=details.written if details else (),
                guard=details.guard if details else None,
                is_exact=details is not None,
            )
        case TemporalTimeoutError():
            tries = _recorded(cause.last_heartbeat_details)
            used_up = isinstance(error, ActivityError) and error.retry_state is RetryState.MAXIMUM_ATTEMPTS_REACHED
            kind = cause.type.name.lower().replace("_", "-") if cause.type else "unknown"
            return ActivityFailure(
                code=ErrorCode.TIMEOUT,
                message=f"no answer from the worker ({kind} timeout)",
                tries=tries,
                tries_made=granted_tries,
                is_exact=used_up,
            )
        case CancelledError() | asyncio.CancelledError():
            return ActivityFailure(
                code=ErrorCode.TIMEOUT,
                message="cancelled between two tries or before the first",
                tries=(),
                tries_made=granted_tries - 1,  # The last one cannot have started.
                was_cancelled=True,
                was_waiting=True,
                has_begun=granted_tries > 1,
                is_exact=granted_tries == 1,
            )
        case _:
            message = f"{type(cause).__name__}: {cause}"
            return ActivityFailure(ErrorCode.INTERNAL, message, (), granted_tries, is_exact=False)


def total_usage(tries: Sequence[TryRecord], last: Usage | None = None) -> Usage:
    """Add up the usage of recorded tries and of the one that gave the result."""
    total = NO_USAGE
    for record in tries:
        total = total.plus(record.usage)
    return total.plus(last or NO_USAGE)


def tries_told(tries: Sequence[TryRecord], *, made: int) -> list[JsonValue]:
    """Return what the trace says of the failed tries of a model call, of which so many were made."""
    told: list[JsonValue] = []
    for record in tries:
        then = " (then the fallback model was asked)" if record.falls_back and record.number < made else ""
        told.append(f"try {record.number}: {record.code}: {record.message}{then}")
    return told


def _code(kind: str) -> ErrorCode:
    return ErrorCode.PAYLOAD_TOO_LARGE if kind == "PayloadsTooLarge" else parse_code(kind)


def _details(details: Sequence[object]) -> FailureDetails | None:
    """Read the ledger of a failed activity; None when the failure is not of the activity's own making."""
    try:
        return FailureDetails.model_validate(details[0]) if details else None
    except ValidationError:
        return None


def _recorded(heartbeat_details: Sequence[object]) -> tuple[TryRecord, ...]:
    return _LEDGER.validate_python(heartbeat_details[0]) if heartbeat_details else ()
