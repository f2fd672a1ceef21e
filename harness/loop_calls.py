"""What an agent loop and its activities say to each other.

History pays for every byte, so what grows travels by reference: the frame (goal and tools, written once), the
conversation and the facts are artifacts. Fields that have their default are left out on the wire.
"""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from harness.artifact import Artifact, StoredArgument
from harness.calls import Timing
from harness.catalog import Catalog
from harness.errors import ErrorCode
from harness.guardrail import GuardReport
from harness.model_choice import ModelChoice, no_choice
from harness.usage import TryRecord, Usage, no_usage

LOOP_INLINE_BYTES = 2048
"""Largest encoded result of a call that travels inside messages: it does so twice, in reply and next request."""


class _Envelope(BaseModel):
    model_config = ConfigDict(frozen=True)


class ToolCall(_Envelope):
    """A call that the model asks for."""

    id: str
    """Step and place, such as "3.1": unique in the run, given by the harness."""
    tool: str
    """As the model wrote it."""
    arguments: dict[str, JsonValue] = {}
    problem: str = ""
    """Why the arguments could not be read; empty when they could."""


class CallResult(_Envelope):
    """What came of a call, for the next step."""

    id: str
    tool: str
    value: JsonValue = None
    """The result, when it is small and the call succeeded."""
    artifact: Artifact | None = None
    """Where the result is, when it is not small."""
    code: ErrorCode | None = None
    """Set when the call failed or was refused."""
    message: str = ""
    """Why it failed, and what would be right."""


class LoopContext(_Envelope):
    """What every call of a loop's own activities needs."""

    frame: Artifact
    conversation: Artifact | None = None
    """None before the first step."""
    facts: Artifact | None = None
    """None when nothing is remembered."""


class BeginRequest(_Envelope):
    """Ask for the frame of a loop: the goal, checked, and the tools."""

    goal: str
    catalog: Catalog
    given: dict[str, JsonValue] = {}
    """Data that an agent node of a plan is given beside its goal."""
    stored: tuple[StoredArgument, ...] = ()
    """Parts of it that are in the artifact store."""


class BeginReply(Timing):
    """The frame of a loop."""

    frame: Artifact
    prompt_tokens: int
    """Estimate of a prompt that has nothing but the frame."""
    guard: GuardReport | None = None


class StepRequest(LoopContext):
    """Ask the model for the next step."""

    step: int
    """From 1. A closing call has the number of the step after the last one."""
    results: tuple[CallResult, ...] = ()
    """What came of the calls of the step before, in their order."""
    notes: tuple[str, ...] = ()
    """What the harness has to say to the model: hints, corrections."""
    must_answer: bool = False
    """True for a closing call: no tools are offered."""
    soft_tokens: int
    hard_tokens: int
    max_output_tokens: int
    max_tokens: int
    """Tokens set aside for one try, prompt and output together."""
    timeout: timedelta
    models: ModelChoice = Field(default_factory=no_choice)


class StepReply(Timing):
    """The next step as the model wants it: calls, or the answer."""

    conversation: Artifact
    """With the results and notes of the request and the model's turn; written before this reply."""
    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    """Set when the model is done."""
    problem: str = ""
    """Why the output is neither a call nor an answer; empty when it is one. Such a reply has neither."""
    context_tokens: int = 0
    """Estimate of the prompt of the next step without its new results."""
    dropped: int = 0
    """Tool outputs that this step dropped from the prompt."""
    guard: GuardReport | None = None
    usage: Usage = Field(default_factory=no_usage)
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
    answered_by: str = ""
    """The model by the name that its server gives it."""


class SummariseRequest(LoopContext):
    """Ask for older steps to be replaced by a summary."""

    soft_tokens: int
    """What the conversation is to come under."""
    max_output_tokens: int = 0
    max_tokens: int = 0
    """As for a step; 0 when no model is to be asked: then the record of the calls is the summary."""
    timeout: timedelta
    models: ModelChoice = Field(default_factory=no_choice)


class SummariseReply(Timing):
    """The conversation with a summary in place of older steps."""

    conversation: Artifact
    context_tokens: int
    summarised: int
    """Steps that the summary stands for, all earlier summaries included."""
    guard: GuardReport | None = None
    usage: Usage = Field(default_factory=no_usage)
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1


class MemoryRequest(_Envelope):
    """Ask to remember a fact, or to recall one. The activity type, `remember` or `recall`, says which."""

    facts: Artifact | None = None
    arguments: dict[str, JsonValue] = {}


class MemoryReply(Timing):
    """What came of it."""

    facts: Artifact | None = None
    """The facts as they are now; None when nothing is remembered."""
    value: JsonValue = None
    """What the model is told."""
    is_new: bool = False
    """True when a fact was added or changed."""
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
