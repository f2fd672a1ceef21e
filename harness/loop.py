"""An agent loop: how it ends, its steps, and what it answers. What is asked is a RunRequest, as of a plan run."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from harness.artifact import Artifact
from harness.budget import BudgetSnapshot
from harness.errors import ErrorClass, ErrorCode
from harness.guardrail import Guardrail
from harness.trace import TracePage
from harness.trace_log import NO_EVENTS, Trace
from harness.usage import Usage, no_usage


class LoopStatus(StrEnum):
    """How an agent loop ended."""

    COMPLETED = "COMPLETED"
    """The model said that it was done, and what the answer is."""
    MAX_STEPS_EXCEEDED = "MAX_STEPS_EXCEEDED"
    TIMEOUT = "TIMEOUT"
    """The wall clock was over."""
    NO_PROGRESS = "NO_PROGRESS"
    """It repeated itself, or found nothing new for some steps."""
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class LoopPhase(StrEnum):
    """Where an agent loop is."""

    CREATED = "CREATED"
    ASKING = "ASKING"
    """The model is asked for the next step."""
    ACTING = "ACTING"
    """Calls of the step are under way."""
    SUMMARISING = "SUMMARISING"
    CONTINUING = "CONTINUING"
    """The loop is about to go on in the next workflow run of the chain."""
    FINISHED = "FINISHED"


class StepRecord(BaseModel):
    """One call of a step, made or refused."""

    model_config = ConfigDict(frozen=True)

    number: int
    """The step, from 1; parallel calls of one step share it."""
    call: str
    """Id of the call: step and place, such as "3.1"."""
    tool: str
    arguments: dict[str, JsonValue] = {}
    success: bool
    result: JsonValue = None
    """The result, when it is small."""
    artifact: Artifact | None = None
    """Where the result is, when it is not small."""
    error: str | None = None
    error_code: ErrorCode | None = None
    tries: int = 0
    """0 for a call that was refused."""
    latency_ms: int | None = None


class StepPage(BaseModel):
    """Older step records, in the artifact store as a JSON list."""

    model_config = ConfigDict(frozen=True)

    artifact: Artifact
    steps: int
    """How many records there are in it."""


class LoopResult(BaseModel):
    """What an agent loop gives back, whatever its status."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    session_id: str
    status: LoopStatus
    report: str | None = None
    """The answer; a partial one, which says so, unless the status is COMPLETED."""
    error: str | None = None
    """Why it did not complete."""
    error_class: ErrorClass | None = None
    error_code: ErrorCode | None = None
    steps_made: int = 0
    """Model calls that could ask for tools."""
    steps: tuple[StepRecord, ...] = ()
    """The records that are in no page."""
    step_pages: tuple[StepPage, ...] = ()
    """Where the records before those of `steps` are, oldest first."""
    steps_dropped: int = 0
    """Records between the pages and `steps` that were left out because the result would not fit in one message."""
    budget: BudgetSnapshot
    usage: Usage = Field(default_factory=no_usage)
    """What all its model calls used together."""
    trace: Trace = NO_EVENTS
    trace_pages: tuple[TracePage, ...] = ()
    trace_dropped: int = 0
    model: str = ""
    """The model of the steps, by the name it was asked for."""
    guardrails: tuple[Guardrail, ...] = ()
    """The guardrails that ran, in the order of the chain."""
    ungrounded: tuple[str, ...] = ()
    """Figures, prices and dates of the answer that come from no result, goal or memory."""
    has_written: bool = False
    """Whether a tool of effect WRITE was called and may have had its effect."""
    written: tuple[str, ...] = ()
    """Keys of the calls that write and were made, in this loop or before it in its run: harness.made_writes."""
    continued: int = 0
    """How often the loop has continued as new."""


class LoopView(BaseModel):
    """The answer of the query `state`: an agent loop as it is now."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    session_id: str
    goal: str
    phase: LoopPhase
    status: LoopStatus | None = None
    """None while the loop goes on."""
    steps_made: int = 0
    max_steps: int
    steps: tuple[StepRecord, ...] = ()
    """The newest records, at most 50."""
    in_flight: tuple[str, ...] = ()
    """Tools that are at work."""
    context_tokens: int = 0
    budget: BudgetSnapshot
    model: str = ""
    trace_pages: tuple[TracePage, ...] = ()
    trace_length: int = 0
