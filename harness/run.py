"""A run: what is asked, what comes back, and the state machine between the two."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from harness.budget import BudgetSnapshot, Limits
from harness.catalog import ToolRole
from harness.errors import ErrorClass, ErrorCode
from harness.guardrail import Guardrail
from harness.loop_options import LoopOptions
from harness.model_choice import NO_CHOICE, ModelChoice
from harness.plan import Plan, PlanNode
from harness.schedule import NodeStatus
from harness.toolkit_names import DEFAULT_TOOLKIT
from harness.trace import TracePage
from harness.trace_log import NO_EVENTS, Trace
from harness.usage import Usage, no_usage
from harness.verification import Verdict

MAX_GOAL_CHARS = 20_000
Pattern = Annotated[str, Field(min_length=1, max_length=200)]


class RunPhase(StrEnum):
    """Where a run is."""

    CREATED = "CREATED"
    PLANNING = "PLANNING"
    VALIDATING = "VALIDATING"
    EXECUTING = "EXECUTING"
    RETRYING = "RETRYING"
    VERIFYING = "VERIFYING"
    REPLANNING = "REPLANNING"
    CONTINUING = "CONTINUING"
    """The plan is about to go on in the next workflow run of the chain."""
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
    RunPhase.CREATED: frozenset({RunPhase.PLANNING, RunPhase.EXECUTING, RunPhase.FINISHED}),
    RunPhase.PLANNING: frozenset({RunPhase.VALIDATING, RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.VALIDATING: frozenset({RunPhase.EXECUTING, RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.EXECUTING: frozenset(
        {RunPhase.VERIFYING, RunPhase.RETRYING, RunPhase.REPLANNING, RunPhase.CONTINUING, RunPhase.FINISHED}
    ),
    RunPhase.RETRYING: frozenset({RunPhase.EXECUTING, RunPhase.FINISHED}),
    RunPhase.VERIFYING: frozenset({RunPhase.REPLANNING, RunPhase.FINISHED}),
    RunPhase.REPLANNING: frozenset({RunPhase.PLANNING, RunPhase.FINISHED}),
    RunPhase.CONTINUING: frozenset({RunPhase.EXECUTING, RunPhase.FINISHED}),
    RunPhase.FINISHED: frozenset(),
}
"""The moves of a run. REPLANNING and CONTINUING are continue-as-new: the next workflow run begins with CREATED, from
which a plan that goes on is EXECUTING at once; a plan whose state cannot be kept is EXECUTING where it is."""

FAILED_STATUS: dict[RunPhase, RunStatus] = {
    RunPhase.CREATED: RunStatus.FAILED_PLANNING,
    RunPhase.PLANNING: RunStatus.FAILED_PLANNING,
    RunPhase.VALIDATING: RunStatus.FAILED_VALIDATION,
    RunPhase.EXECUTING: RunStatus.FAILED_EXECUTION,
    RunPhase.RETRYING: RunStatus.FAILED_EXECUTION,
    RunPhase.VERIFYING: RunStatus.FAILED_VERIFICATION,
    RunPhase.REPLANNING: RunStatus.FAILED_PLANNING,
    RunPhase.CONTINUING: RunStatus.FAILED_EXECUTION,
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
    max_plan_nodes: int = Field(default=500, ge=1, le=10_000)
    model_timeout: timedelta = Field(default=timedelta(seconds=60), gt=timedelta(0), le=timedelta(hours=1))
    """Time limit of one try of a model call."""
    plan_output_tokens: int = Field(default=4000, ge=1, le=200_000)
    """Most output tokens of one planning call."""
    synthesis_tokens: int = Field(default=4000, ge=1, le=1_000_000)
    """Tokens, prompt and output together, that are set aside for the final synthesis from the start."""
    max_result_bytes: int = Field(default=8_388_608, ge=1, le=67_108_864)
    """Largest encoded result of one node; a larger one fails the node once with PAYLOAD_TOO_LARGE."""
    models: ModelChoice = NO_CHOICE
    """Models in place of the worker's."""
    allow: tuple[Pattern, ...] = Field(default=(), max_length=100)
    """Tools that the run may use, by patterns of their names, and permissions as `permission:NAME`; empty for all."""
    deny: tuple[Pattern, ...] = Field(default=(), max_length=100)
    """Tools that it may not use, whatever `allow` says."""
    allow_writes: bool = False
    """Whether tools may be used that have the effect WRITE or need approval."""
    max_tools_shown: int = Field(default=8, ge=1, le=1000)
    """Most tools that the planner is shown; of more, a routing call picks some first."""
    allow_agents: bool = False
    """Whether a plan may have agent nodes: agent loops over the same tools, with a share of the run's budget."""
    loop: LoopOptions = LoopOptions()
    """How agent loops work, the run itself or those in its plan."""


class RunRequest(BaseModel):
    """What a client asks for. Anything else in the request is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str = Field(min_length=1, max_length=MAX_GOAL_CHARS, pattern=r"\S")
    session_id: str = Field(default="", max_length=200)
    toolkit: str = Field(default=DEFAULT_TOOLKIT, min_length=1, max_length=200)
    options: RunOptions = RunOptions()


class NodeReport(BaseModel):
    """How one node of a plan ended."""

    model_config = ConfigDict(frozen=True)

    node: PlanNode
    role: ToolRole | None = None
    status: NodeStatus
    tries: int = 0
    usage: Usage = Field(default_factory=no_usage)
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
    trace: Trace = NO_EVENTS
    """The events that are in no page."""
    trace_pages: tuple[TracePage, ...] = ()
    """Where the events before those of `trace` are, oldest first."""
    trace_dropped: int = 0
    """Events between the pages and `trace` that were left out because the result would not fit in one message."""
    model: str = ""
    """The model that planned, by the name it was asked for; "offline" for the rule-based stand-in."""
    guardrails: tuple[Guardrail, ...] = ()
    """The guardrails that ran, in the order of the chain."""
    ungrounded: tuple[str, ...] = ()
    """Figures, prices and dates of the report that come from no result, goal or memory."""


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
    counts: dict[NodeStatus, int] = {}
    """How many nodes of the plan there are in each state."""
    nodes: tuple[NodeReport, ...] = ()
    """The nodes of the plan; of a plan with more than 1,000 those that are RUNNING or FAILED, at most 1,000."""
    nodes_dropped: int = 0
    """Nodes of the plan that are not in `nodes`."""
    budget: BudgetSnapshot
    model: str = ""
    trace_pages: tuple[TracePage, ...] = ()
    """Where the events are that the query `trace` does not answer any more, oldest first."""
    trace_length: int = 0
    """Number of trace events so far, those in pages included."""


def draft_nodes(plan: Plan) -> tuple[NodeReport, ...]:
    """Return the reports of a plan none of whose nodes has started."""
    return tuple(NodeReport(node=node, status=NodeStatus.PENDING) for node in plan.nodes)
