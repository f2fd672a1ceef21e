"""What an agent loop carries through continue-as-new: counters and references, because what is large is stored."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from harness.agent_carry import AgentCarry
from harness.artifact import Artifact, StoredArgument
from harness.budget import Ledger, Limits
from harness.guardrail import Guardrail
from harness.loop import StepPage, StepRecord
from harness.run import RunRequest
from harness.trace import TracePage
from harness.trace_log import NO_EVENTS, Trace
from harness.usage import Usage, no_usage

MAX_RECENT_BYTES = 60_000
"""Encoded step records that are carried, the newest first, for the partial answer and the state."""


class LoopCarry(BaseModel):
    """The state of an agent loop between two of its workflow runs."""

    model_config = ConfigDict(frozen=True)

    started_at: datetime
    attempt_started_at: datetime | None = None
    limits: Limits
    ledger: Ledger
    agent: AgentCarry
    frame: Artifact
    conversation: Artifact | None = None
    facts: Artifact | None = None
    catalog: Artifact
    """A StatePage with the catalog."""
    recent: tuple[StepRecord, ...] = ()
    """The newest records; they are in pages, too."""
    step_pages: tuple[StepPage, ...] = ()
    trace: Trace = NO_EVENTS
    """Events that came while the others were being kept."""
    trace_pages: tuple[TracePage, ...] = ()
    usage: Usage = Field(default_factory=no_usage)
    answered_by: str = ""
    applied_messages: tuple[str, ...] = ()
    pressure_reported: bool = False
    guardrails: tuple[Guardrail, ...] = ()
    ungrounded: tuple[str, ...] = ()
    """Figures of the answer that is to be corrected."""
    has_written: bool = False
    continued: int = Field(default=0, ge=0)


class LoopInput(RunRequest):
    """Input of the workflow as one value: the request, and from the second workflow run on what was left for it."""

    activity_queue: str = Field(default="", max_length=1000)
    """Task queue of the activities when it is not that of the workflow: where the run's own model and tools are."""
    given: dict[str, JsonValue] = Field(default={})
    """Data that an agent node of a plan is given beside its goal."""
    stored: tuple[StoredArgument, ...] = ()
    """Parts of it that are in the artifact store."""
    written: tuple[str, ...] = ()
    """Keys of what the run has written before, which an agent node must not write again: harness.made_writes."""
    carry: LoopCarry | None = None
    """Set by continue-as-new only."""
