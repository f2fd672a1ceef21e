"""What workflows and activities say to each other: requests, replies, and the details of a failed activity.

History pays for every byte here, so fields that have their default are left out on the wire.
"""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, JsonValue

from harness.catalog import Catalog
from harness.model_choice import NO_CHOICE, ModelChoice
from harness.plan import Plan
from harness.recovery import FailureContext
from harness.usage import TryRecord, Usage


class _Envelope(BaseModel):
    model_config = ConfigDict(frozen=True)


class DescribeRequest(_Envelope):
    """Ask for the catalog of a toolkit, with the models of the run."""

    toolkit: str
    models: ModelChoice = NO_CHOICE


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
    models: ModelChoice = NO_CHOICE


class Timing(_Envelope):
    """When a try ran, as far as the trace must know."""

    latency_ms: int = 0
    """Execution time of the try, without queueing."""
    queue_ms: int = 0
    """From scheduling of this try to its start on a worker."""


class PlanReply(Timing):
    """A plan, and what it cost. The usage is that of the last try; earlier tries are in `tries`."""

    plan: Plan
    usage: Usage = Usage()
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
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
    max_tokens: int = 0
    """Tokens that the call may use on models, prompt and output together."""
    max_result_bytes: int = 262_144
    feedback: str = ""
    """Why the last report was rejected; only for FINAL_SYNTHESIS."""
    models: ModelChoice = NO_CHOICE


class ToolReply(Timing):
    """A tool's result. The usage is that of the last try; earlier tries are in `tries`."""

    value: JsonValue = None
    usage: Usage = Usage()
    tries: tuple[TryRecord, ...] = ()
    try_number: int = 1
    """Temporal's activity attempt that gave the result; more than len(tries) + 1 when workers were lost."""


class VerifyRequest(_Envelope):
    """Ask the toolkit to check a report against the goal and the results it was written from."""

    goal: str
    toolkit: str
    report: JsonValue
    results: dict[str, JsonValue]
    """Results by tool name; a tool called more than once gives a list."""


class FailureDetails(_Envelope):
    """Details of a failed activity: every try that was made, the last one included."""

    tries: tuple[TryRecord, ...] = ()
    try_number: int
    """Temporal's activity attempt that failed last."""
