"""What workflows and activities say to each other: requests, replies, and the details of a failed activity.

History pays for every byte here, so fields that have their default are left out on the wire.
"""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from harness.artifact import INLINE_BYTES, Artifact, StoredArgument, StoredResult
from harness.catalog import Catalog, Effect
from harness.guardrail import GuardReport
from harness.model_choice import ModelChoice, no_choice
from harness.plan import Plan
from harness.recovery import FailureContext
from harness.routing import Offer
from harness.trace import TracePage
from harness.usage import TryRecord, Usage, no_usage


class _Envelope(BaseModel):
    model_config = ConfigDict(frozen=True)


class DescribeRequest(_Envelope):
    """Ask for the catalog of a toolkit, with the models of the run and what it may use."""

    toolkit: str
    models: ModelChoice = Field(default_factory=no_choice)
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    allow_writes: bool = False


class RouteRequest(_Envelope):
    """Ask a model which tools suit a goal."""

    goal: str
    offers: tuple[Offer, ...]
    """The tools to pick from."""
    most: int
    """Most tools to pick."""
    max_output_tokens: int
    max_tokens: int
    """Tokens set aside for one try, prompt and output together."""
    timeout: timedelta
    """Time limit of one try."""
    failures: tuple[FailureContext, ...] = ()
    """Earlier attempts of this run, oldest first, shortened."""
    models: ModelChoice = Field(default_factory=no_choice)


class PlanRequest(_Envelope):
    """Ask a model for a plan."""

    goal: str
    catalog: Catalog
    max_nodes: int
    """Most nodes that the budget and the options allow."""
    max_output_tokens: int
    max_tokens: int
    """Tokens set aside for one try, prompt and output together."""
    timeout: timedelta
    """Time limit of one try."""
    failures: tuple[FailureContext, ...] = ()
    """Earlier attempts of this run, oldest first, at most five."""
    models: ModelChoice = Field(default_factory=no_choice)


class Timing(_Envelope):
    """When a try ran, as far as the trace must know."""

    latency_ms: int = 0
    """Execution time of the try, without queueing."""
    queue_ms: int = 0
    """From scheduling of this try to its start on a worker."""


class RouteReply(Timing):
    """The tools that a model named, and what that cost. The usage is that of the last try."""

    names: tuple[str, ...] = ()
    usage: Usage = Field(default_factory=no_usage)
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
    guard: GuardReport | None = None
    """What the guardrails say of its model calls; None when it made none."""


class PlanReply(Timing):
    """A plan, and what it cost. The usage is that of the last try; earlier tries are in `tries`."""

    plan: Plan
    usage: Usage = Field(default_factory=no_usage)
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
    guard: GuardReport | None = None
    """What the guardrails say of its model calls; None when it made none."""
    answered_by: str = ""
    """The model by the name that its server gives it, which may be more exact than the one that was asked for."""
    finish_reason: str = ""
    """Why the server says that the answer ended; empty when it does not say."""
    model_latency_ms: int = 0
    """From sending the request to its answer."""
    is_repaired: bool = False
    """True when the answer was no JSON until its syntax was repaired."""


class ToolRequest(_Envelope):
    """Ask for one tool call. Tool, node and idempotency key are in the activity's type and id."""

    arguments: dict[str, JsonValue] = {}
    stored: tuple[StoredArgument, ...] = ()
    """Arguments, or parts of them, that are in the artifact store; `arguments` has null in their places."""
    written: tuple[str, ...] = ()
    """Reuse keys of what earlier attempts have written, for a call with stored arguments that writes: only whoever
    loads them can tell whether it has been made."""
    max_tokens: int = 0
    """Tokens that the call may use on models, prompt and output together."""
    max_result_bytes: int = 8_388_608
    feedback: str = ""
    """Why the last report was rejected; only for FINAL_SYNTHESIS."""
    models: ModelChoice = Field(default_factory=no_choice)
    effect: Effect = Effect.READ
    """What the run takes the tool for; it is not called when it has come to do more."""
    inline_bytes: int = INLINE_BYTES
    """Largest encoded result that comes back inside the reply; a larger one comes by reference."""
    is_saving: bool = False
    """True when the run must save: no model call is made that is optional, such as one that corrects an answer."""


class ToolReply(StoredResult, Timing):
    """A tool's result. The usage is that of the last try; earlier tries are in `tries`."""

    key: str = ""
    """Reuse key of the call with its values in place of what was stored; empty when nothing was."""
    is_reused: bool = False
    """True when the call of that key was made before, so that it was not made again."""
    usage: Usage = Field(default_factory=no_usage)
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
    """Temporal's activity attempt that gave the result; more than len(tries) + 1 when workers were lost."""
    guard: GuardReport | None = None
    """What the guardrails say of its model calls; None when it made none."""


class AgentReply(ToolReply):
    """What an agent node of a plan gives back; it never travels itself."""

    tool_calls: int
    """Calls that the agent has made, all tries counted."""
    written: tuple[str, ...] = ()
    """Keys of what the agent has written: harness.made_writes."""


class VerifyRequest(_Envelope):
    """Ask the toolkit to check a report against the goal and the results it was written from."""

    goal: str
    toolkit: str
    report: JsonValue
    results: dict[str, JsonValue]
    """Results by tool name; a tool called more than once gives a list."""
    stored: tuple[StoredArgument, ...] = ()
    """Results, or parts of them, that are in the artifact store."""


class KeepRequest(_Envelope):
    """Ask for a page of a run's state, and of its trace, to be kept in the artifact store.

    Both are text, because they are large and whoever keeps them need not read them.
    """

    state: str
    """A StatePage as JSON."""
    trace: str = ""
    """Trace events as a JSON list."""
    events: int = 0
    """How many of them there are."""
    whole: tuple[str, ...] = ()
    """Ids of nodes whose results stay in the page whatever their size, because the workflow must read them."""


class KeepReply(_Envelope):
    """Where the pages are."""

    state: Artifact
    trace: TracePage | None = None
    """None when there was no event to keep."""


class LoadRequest(_Envelope):
    """Ask for pages of a run's state, as one."""

    pages: tuple[Artifact, ...]


class LoadReply(_Envelope):
    """What the pages say together."""

    state: str
    """A StatePage as JSON, without its plan."""
    plan: str = ""
    """Its plan."""


class FailureDetails(_Envelope):
    """Details of a failed activity: every try that was made, the last one included."""

    tries: tuple[TryRecord, ...] = ()
    try_number: int
    """Temporal's activity attempt that failed last."""
    has_begun: bool = True
    """False when the last try failed before the tool was called, so that it cannot have had an effect."""
    tool_calls: int | None = None
    """Calls that an agent node has made; None for an activity, where each try is one."""
    written: tuple[str, ...] = ()
    """Keys of what an agent node has written."""
    guard: GuardReport | None = None
    """What the guardrails say of the last try's model calls; None when it made none."""
