"""What a run carries through continue-as-new."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from harness.budget import Ledger, Limits
from harness.recovery import FailureContext
from harness.run import AttemptRecord, RunRequest
from harness.trace import TraceEvent


class Carry(BaseModel):
    """The state of a run between two of its workflow runs."""

    model_config = ConfigDict(frozen=True)

    attempt: int = Field(ge=0)
    started_at: datetime
    limits: Limits
    ledger: Ledger
    retries: int = Field(default=0, ge=0)
    """Run-level retries made so far."""
    failures: tuple[FailureContext, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()
    paid: dict[str, JsonValue] = {}
    """Results of READ tools that may be reused, by reuse key, oldest first."""
    written: dict[str, JsonValue] = {}
    """Results of tools that write, by reuse key: never left out, because their calls must not be made again."""
    trace: tuple[TraceEvent, ...] = ()
    trace_dropped: int = Field(default=0, ge=0)
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

    activity_queue: str = Field(default="", max_length=1000)
    """Task queue of the activities when it is not that of the workflow: where the run's own model and tools are."""
    carry: Carry | None = None
    """Set by continue-as-new only."""
