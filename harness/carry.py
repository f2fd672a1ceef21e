"""What a run carries through continue-as-new: little, because what is large is in the artifact store by then."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from harness.artifact import Artifact
from harness.budget import Ledger, Limits
from harness.guardrail import Guardrail
from harness.progress import StatePage
from harness.recovery import FailureContext
from harness.run import RunRequest
from harness.trace import TracePage
from harness.trace_log import NO_EVENTS, Trace

INLINE_CARRY_BYTES = 65_536
"""Largest encoded state and trace that are carried as they are; larger ones become pages in the artifact store."""
MAX_FAILURES_BYTES = 150_000
"""Encoded failures that are carried, the newest first."""
MAX_IDS_BYTES = 100_000
"""Encoded ids of operator messages that are carried, the newest first. With the request all stays under 512 KB."""


class Carry(BaseModel):
    """The state of a run between two of its workflow runs."""

    model_config = ConfigDict(frozen=True)

    attempt: int = Field(ge=0)
    started_at: datetime
    attempt_started_at: datetime | None = None
    """Set when the plan of the attempt goes on."""
    limits: Limits
    ledger: Ledger
    retries: int = Field(default=0, ge=0)
    """Run-level retries made so far."""
    failures: tuple[FailureContext, ...] = ()
    state: StatePage | None = None
    """State of the run; None when it is in pages."""
    pages: tuple[Artifact, ...] = ()
    """State of the run, a StatePage each, in the order in which they are taken up."""
    trace: Trace = NO_EVENTS
    """Events that are in no page."""
    trace_pages: tuple[TracePage, ...] = ()
    applied_messages: tuple[str, ...] = ()
    """Ids of operator messages that were applied, so that a repeated one is not."""
    pressure_reported: bool = False
    feedback: str = ""
    """Why the last report was rejected."""
    is_executing: bool = False
    """True when the plan of the attempt goes on; false when another attempt begins with a new one."""
    guardrails: tuple[Guardrail, ...] = ()
    """Those that ran so far, in the order of the chain."""
    ungrounded: tuple[str, ...] = ()
    """Figures of the report that come from nowhere, when the plan with it goes on."""
    refusal: str | None = None
    """Why work of the plan was not started, once that has happened."""


class RunInput(RunRequest):
    """Input of the workflow: the request, and from the second workflow run of the chain on what the first ones left.

    It is one value because Temporal's Python SDK ignores all type hints when a client sends fewer arguments than the
    workflow takes.
    """

    activity_queue: str = Field(default="", max_length=1000)
    """Task queue of the activities when it is not that of the workflow: where the run's own model and tools are."""
    carry: Carry | None = None
    """Set by continue-as-new only."""
