"""What a run carries through continue-as-new, and how it and the result stay under what one message can hold."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, JsonValue

from harness.budget import Ledger, Limits
from harness.recovery import FailureContext
from harness.run import AttemptRecord, RunRequest, RunResult
from harness.trace import TraceEvent

MAX_CARRY_BYTES = 1_500_000
"""Temporal refuses a payload over 2 MiB; the request and the envelope need the rest."""


class Carry(BaseModel):
    """The state of a run between two of its workflow runs."""

    model_config = ConfigDict(frozen=True)

    attempt: int
    started_at: datetime
    limits: Limits
    ledger: Ledger
    retries: int = 0
    """Run-level retries made so far."""
    failures: tuple[FailureContext, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()
    paid: dict[str, JsonValue] = {}
    """Results that may be reused, by reuse key, oldest first."""
    trace: tuple[TraceEvent, ...] = ()
    trace_dropped: int = 0
    applied_messages: tuple[str, ...] = ()
    """Ids of operator messages that were applied, so that a repeated one is not."""
    pressure_reported: bool = False
    feedback: str = ""
    """Why the last report was rejected."""


class RunInput(RunRequest):
    """Input of the workflow: the request, and from the second workflow run of the chain on what the first ones left.

    It is one value because Temporal's Python SDK ignores all type hints when a client sends fewer arguments than the
    workflow takes.
    """

    carry: Carry | None = None
    """Set by continue-as-new only."""


def fit_carry(carry: Carry, limit: int = MAX_CARRY_BYTES) -> Carry:
    """Return the carry within the limit: first the largest reusable results go, then the oldest trace events."""
    excess = _size(carry) - limit
    if excess <= 0:
        return carry
    sizes = {key: len(_json_size(key, value)) for key, value in carry.paid.items()}
    paid = dict(carry.paid)
    for key in sorted(sizes, key=lambda k: sizes[k], reverse=True):
        if excess <= 0:
            break
        excess -= sizes[key]
        del paid[key]
    trace = _newest(carry.trace, excess)
    dropped = carry.trace_dropped + len(carry.trace) - len(trace)
    return carry.model_copy(update={"paid": paid, "trace": trace, "trace_dropped": dropped})


def fit_result(result: RunResult, limit: int = MAX_CARRY_BYTES) -> RunResult:
    """Return the result within the limit: the oldest trace events go first, then the nodes of earlier attempts."""
    excess = _size(result) - limit
    if excess <= 0:
        return result
    trace = _newest(result.trace, excess)
    dropped = result.trace_dropped + len(result.trace) - len(trace)
    fitted = result.model_copy(update={"trace": trace, "trace_dropped": dropped})
    if _size(fitted) <= limit:
        return fitted
    bare = tuple(attempt.model_copy(update={"nodes": ()}) for attempt in result.attempts)
    return fitted.model_copy(update={"attempts": bare})


def _newest(trace: tuple[TraceEvent, ...], excess: int) -> tuple[TraceEvent, ...]:
    """Drop events from the front until `excess` bytes are gone."""
    start = 0
    while excess > 0 and start < len(trace):
        excess -= _size(trace[start]) + 1
        start += 1
    return trace[start:]


def _size(model: BaseModel) -> int:
    return len(model.model_dump_json(exclude_unset=True).encode())


def _json_size(key: str, value: JsonValue) -> bytes:
    return key.encode() + _Value(value=value).model_dump_json().encode()


class _Value(BaseModel):
    value: JsonValue
