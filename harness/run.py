"""A run: what is asked, what comes back, and the state machine between the two."""

from datetime import timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from harness.budget import BudgetSnapshot, Limits
from harness.catalog import ToolRole
from harness.errors import ErrorClass, ErrorCode
from harness.model_choice import NO_CHOICE, ModelChoice
from harness.plan import Plan, PlanNode
from harness.schedule import NodeStatus
from harness.trace import TraceEvent
from harness.usage import Usage
from harness.verification import Verdict

MAX_GOAL_CHARS = 20_000


class RunPhase(StrEnum):
    """Where a run is."""

    CREATED = "CREATED"
    PLANNING = "PLANNING"
    VALIDATING = "VALIDATING"
    EXECUTING = "EXECUTING"
    RETRYING = "RETRYING"
    VERIFYING = "VERIFYING"
    REPLANNING = "REPLANNING"
    FINISHED = "FINISHED"


class RunStatus(StrEnum):
    """How a run ended."""

    SUCCEEDED = "SUCCEEDED"
    FAILED_PLANNING = "FAILED_PLANNING"
    FAILED_VALIDATION = "FAILED_VALIDATION"
    FAILED_EXECUTION = "FAILED_EXECUTION"
    FAILED_VERIFICATION = "FAILED_VERIFICATION"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    CANCELLED = "CANCELLED"


NEXT_PHASES: dict[RunPhase, frozenset[RunPhase]] = {
    RunPhase.CREATED: frozenset({RunPhase.PLANNING, RunPhase.FINISHED}),
    RunPhase.PLANNING: frozenset({RunPhase.VALIDATING, RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.VALIDATING: frozenset({RunPhase.EXECUTING, RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.EXECUTING: frozenset({RunPhase.VERIFYING, RunPhase.RETRYING, RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.RETRYING: frozenset({RunPhase.EXECUTING, RunPhase.FINISHED}),
    RunPhase.VERIFYING: frozenset({RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.REPLANNING: frozenset({RunPhase.PLANNING, RunPhase.FINISHED}),
    RunPhase.FINISHED: frozenset(),
}
"""The moves of a run. REPLANNING is continue-as-new: its next phase is the first of the next workflow run."""

FAILED_STATUS: dict[RunPhase, RunStatus] = {
    RunPhase.CREATED: RunStatus.FAILED_PLANNING,
    RunPhase.PLANNING: RunStatus.FAILED_PLANNING,
    RunPhase.VALIDATING: RunStatus.FAILED_VALIDATION,
    RunPhase.EXECUTING: RunStatus.FAILED_EXECUTION,
    RunPhase.RETRYING: RunStatus.FAILED_EXECUTION,
    RunPhase.VERIFYING: RunStatus.FAILED_VERIFICATION,
    RunPhase.REPLANNING: RunStatus.FAILED_PLANNING,
}
"""The status of a run that fails in a phase and may not go on."""


class RunOptions(BaseModel):
    """How a run may work."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limits: Limits = Limits()
    max_replans: int = Field(default=2, ge=0, le=20)
    """Planning rounds after the first. 0 means one plan, no second chance."""
    max_concurrency: int = Field(default=5, ge=1, le=50)
    """Nodes in flight at once. 50 is what an untuned server bears: over 100 buffered events it fails the task."""
    max_run_retries: int = Field(default=1, ge=0, le=10)
    """How often a run goes to RETRYING when tries of a node are used up. 0 means never."""
    retry_wait: timedelta = Field(default=timedelta(seconds=5), ge=timedelta(0), le=timedelta(hours=1))
    """Durable timer of RETRYING before the nodes that are not DONE run again."""
    max_plan_nodes: int = Field(default=500, ge=1, le=1000)
    model_timeout: timedelta = Field(default=timedelta(seconds=60), gt=timedelta(0), le=timedelta(hours=1))
    """Time limit of one try of a model call."""
    plan_output_tokens: int = Field(default=4000, ge=1, le=200_000)
    """Most output tokens of one planning call."""
    synthesis_tokens: int = Field(default=4000, ge=1, le=1_000_000)
    """Tokens, prompt and output together, that are set aside for the final synthesis from the start."""
    max_result_bytes: int = Field(default=262_144, ge=1, le=1_048_576)
    """Largest encoded result of one node; a larger one fails the node once with PAYLOAD_TOO_LARGE."""
    models: ModelChoice = NO_CHOICE
    """Models in place of the worker's."""


class RunRequest(BaseModel):
    """What a client asks for. Anything else in the request is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str = Field(min_length=1, max_length=MAX_GOAL_CHARS, pattern=r"\S")
    session_id: str = Field(default="", max_length=200)
    toolkit: str = Field(default="games", min_length=1, max_length=200)
    options: RunOptions = RunOptions()


class NodeReport(BaseModel):
    """How one node of a plan ended."""

    model_config = ConfigDict(frozen=True)

    node: PlanNode
    role: ToolRole | None = None
    status: NodeStatus
    tries: int = 0
    usage: Usage = Usage()
    latency_ms: int | None = None
    error: str | None = None
    error_code: ErrorCode | None = None
    reused: bool = False


class AttemptRecord(BaseModel):
    """An earlier planning round: its plan as far as it came, and why it ended."""

    model_config = ConfigDict(frozen=True)

    attempt: int
    phase: RunPhase
    """The phase in which it failed."""
    error_class: ErrorClass
    error: str
    nodes: tuple[NodeReport, ...] = ()
    nodes_dropped: int = 0
    """Nodes that were left out because the run would not fit in one message."""


class RunResult(BaseModel):
    """What a run gives back, whatever its status."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    session_id: str
    status: RunStatus
    report: str | None = None
    """The verified report; with BUDGET_EXHAUSTED a partial one that says so."""
    error: str | None = None
    error_class: ErrorClass | None = None
    error_code: ErrorCode | None = None
    verdict: Verdict | None = None
    plan: tuple[NodeReport, ...] = ()
    plan_dropped: int = 0
    """Last nodes of the plan that were left out because the result would not fit in one message."""
    attempts: tuple[AttemptRecord, ...] = ()
    budget: BudgetSnapshot
    trace: tuple[TraceEvent, ...] = ()
    trace_dropped: int = 0
    """Oldest trace events that were left out because the result would not fit in one message."""
    model: str = ""
    """The model that planned, by the name it was asked for; "offline" for the rule-based stand-in."""


class RunView(BaseModel):
    """The answer of the query `state`: a run as it is now."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    session_id: str
    goal: str
    phase: RunPhase
    attempt: int
    status: RunStatus | None = None
    """None while the run goes on."""
    nodes: tuple[NodeReport, ...] = ()
    nodes_dropped: int = 0
    """Last nodes of the plan that were left out because the answer would not fit in one message."""
    budget: BudgetSnapshot
    model: str = ""
    trace_length: int = 0
    """Number of trace events so far."""


def draft_nodes(plan: Plan) -> tuple[NodeReport, ...]:
    """Return the reports of a plan none of whose nodes has started."""
    return tuple(NodeReport(node=node, status=NodeStatus.PENDING) for node in plan.nodes)
