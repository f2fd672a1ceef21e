"""The state that one orchestrator workflow owns: budget, trace, nodes, and what survives continue-as-new."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.artifact import Artifact, Result
    from harness.budget import Budget, Extension
    from harness.carry import RunInput
    from harness.catalog import Catalog, Effect, ToolSpec
    from harness.errors import INVALID_REQUEST, ErrorClass, ErrorCode, classify
    from harness.plan import Plan
    from harness.recovery import FailureContext
    from harness.run import AttemptRecord, NodeReport, RunPhase, RunRequest, RunStatus, draft_nodes
    from harness.schedule import NodeStatus
    from harness.trace import TraceEvent, TraceKind, TracePage
    from harness.verification import Verdict

from workflows.node_state import NodeState

OUT_OF_TIME = "the wall-clock limit is reached"
MESSAGE_IDS_KEPT = 200
MAX_RUN_BYTES = 6_000_000
MAX_RUN_EVENTS = 9_000
"""A plan goes on in the next workflow run beyond these, also on a server that does not suggest it."""


@dataclass
class Ending:
    """How the run ended."""

    status: RunStatus
    report: str | None = None
    error: str | None = None
    error_code: ErrorCode | None = None
    error_class: ErrorClass | None = None


@dataclass
class RunState:
    """Everything that a run knows about itself."""

    request: RunRequest
    run_id: str
    started_at: datetime
    budget: Budget
    activity_queue: str | None = None
    """Task queue of the activities; None for that of the workflow."""
    attempt: int = 0
    attempt_started_at: datetime | None = None
    phase: RunPhase = RunPhase.CREATED
    retries: int = 0
    catalog: Catalog | None = None
    plan: Plan | None = None
    planned_by: str = ""
    """The model that answered with the plan."""
    nodes: dict[str, NodeState] = field(default_factory=dict)
    counts: dict[NodeStatus, int] = field(default_factory=dict)
    """How many nodes there are in each state."""
    changed: dict[str, None] = field(default_factory=dict)
    """Ids of the nodes that are in no page as they are now."""
    results: dict[str, Result] = field(default_factory=dict)
    """Results of the DONE nodes of the plan, by node id."""
    stays_until: int = 0
    """Length of the history before which the plan does not go on elsewhere, because that has just failed."""
    refusal: str | None = None
    """Why work of the plan was not started, once that has happened."""
    failures: list[FailureContext] = field(default_factory=list)
    attempts: list[AttemptRecord] = field(default_factory=list)
    paid: dict[str, Result] = field(default_factory=dict)
    """Results of earlier attempts that may be reused, by reuse key."""
    earned: dict[str, Result] = field(default_factory=dict)
    """Results of this attempt that a later one may reuse."""
    written: dict[str, Result] = field(default_factory=dict)
    """Results of tools that write, of all attempts: a later one must reuse them."""
    trace: list[TraceEvent] = field(default_factory=list)
    """Events that are in no page."""
    trace_pages: list[TracePage] = field(default_factory=list)
    pages: list[Artifact] = field(default_factory=list)
    """Pages of the state of this attempt, from earlier workflow runs of the chain."""
    applied_messages: dict[str, None] = field(default_factory=dict)
    pressure_reported: bool = False
    feedback: str = ""
    verdict: Verdict | None = None
    is_traced: bool = False
    """Whether its spans go anywhere."""
    ending: Ending | None = None

    @classmethod
    def begin(cls, given: RunInput) -> "RunState":
        """Start a run, or take it up again after continue-as-new."""
        info, carry = workflow.info(), given.carry
        if carry is not None and info.continued_run_id is None:
            raise ApplicationError(
                "carry is set by continue-as-new only; leave it out", type=INVALID_REQUEST, non_retryable=True
            )
        request = RunRequest.model_validate(given.model_dump(exclude={"carry", "activity_queue"}, exclude_unset=True))
        if carry is None:
            budget = Budget(request.options.limits)
            return cls(request, info.workflow_id, workflow.now(), budget, given.activity_queue or None)
        return cls(
            request,
            info.workflow_id,
            carry.started_at,
            Budget(carry.limits, carry.ledger),
            given.activity_queue or None,
            attempt=carry.attempt,
            attempt_started_at=carry.attempt_started_at,
            retries=carry.retries,
            failures=list(carry.failures),
            trace=list(carry.trace),
            trace_pages=list(carry.trace_pages),
            pages=list(carry.pages),
            applied_messages=dict.fromkeys(carry.applied_messages),
            pressure_reported=carry.pressure_reported,
            feedback=carry.feedback,
            refusal=carry.refusal,
        )

    @property
    def model(self) -> str:
        """Return the model that planned, before that the one that is to plan; empty before either is known."""
        return self.planned_by or (self.catalog.model.name if self.catalog else "")

    @property
    def elapsed(self) -> timedelta:
        """Return the time since the start of the run."""
        return workflow.now() - self.started_at

    @property
    def time_left(self) -> timedelta:
        """Return the time until the wall-clock limit, not below zero."""
        return max(timedelta(0), self.budget.limits.max_wall_clock - self.elapsed)

    @property
    def is_high_pressure(self) -> bool:
        """Return whether the run must save where it can."""
        return self.budget.is_high(self.elapsed)

    @property
    def is_history_long(self) -> bool:
        """Return whether the plan had better go on in another workflow run."""
        info = workflow.info()
        size, length = info.get_current_history_size(), info.get_current_history_length()
        is_long = info.is_continue_as_new_suggested() or size > MAX_RUN_BYTES or length > MAX_RUN_EVENTS
        return is_long and length >= self.stays_until

    @property
    def trace_offset(self) -> int:
        """Return how many events are in pages."""
        return sum(page.events for page in self.trace_pages)

    def note_paid(self, tool: ToolSpec, keys: tuple[str, ...], result: Result) -> None:
        """Remember a result for equal calls of later attempts."""
        kept = self.earned if tool.effect is Effect.READ else self.written
        for key in keys:
            kept[key] = result

    def take_nodes(self, nodes: dict[str, NodeState]) -> None:
        """Take the nodes of a plan as they are."""
        self.nodes, self.counts = nodes, {}
        for node in nodes.values():
            self.counts[node.status] = self.counts.get(node.status, 0) + 1

    def move(self, node: NodeState, status: NodeStatus) -> None:
        """Give a node another state."""
        self.counts[node.status] -= 1
        self.counts[status] = self.counts.get(status, 0) + 1
        node.status = status
        self.changed[node.node.id] = None

    def emit(
        self,
        kind: TraceKind,
        status: str,
        *,
        node: NodeState | None = None,
        latency_ms: int | None = None,
        message: str | None = None,
        data: dict[str, JsonValue] | None = None,
    ) -> None:
        """Append one event to the trace."""
        now = workflow.now()
        self.trace.append(
            TraceEvent(
                timestamp=now,
                run_id=self.run_id,
                session_id=self.request.session_id,
                attempt=self.attempt,
                kind=kind,
                role=node.role if node else None,
                node_id=node.node.id if node else None,
                status=status,
                latency_ms=latency_ms,
                message=message,
                budget=self.budget.snapshot(now - self.started_at),
                data={} if data is None else data,
            )
        )

    def note_pressure(self) -> None:
        """Emit budget.pressure the first time that the pressure is high."""
        if not self.pressure_reported and self.is_high_pressure:
            self.pressure_reported = True
            self.emit(
                TraceKind.BUDGET_PRESSURE, "HIGH", message="no replans, no optional model calls, one try per node"
            )

    def extend(self, more: Extension) -> None:
        """Apply an operator's extension once, however often it is sent."""
        if more.message_id in self.applied_messages:
            return
        self.applied_messages[more.message_id] = None
        self.budget.extend(more)
        data: dict[str, JsonValue] = more.model_dump(mode="json")
        self.emit(TraceKind.BUDGET_EXTEND, "APPLIED", message="limits raised by an operator", data=data)

    def end(
        self,
        status: RunStatus,
        *,
        report: str | None = None,
        error: str | None = None,
        error_code: ErrorCode | None = None,
        error_class: ErrorClass | None = None,
    ) -> RunPhase:
        """Set how the run ended and return the last phase."""
        known_class = error_class or (classify(error_code) if error_code else None)
        self.ending = Ending(status, report, error, error_code, known_class)
        return RunPhase.FINISHED

    def node_reports(self) -> tuple[NodeReport, ...]:
        """Return every node of the current plan, in plan order, also of one that was refused."""
        if not self.nodes and self.plan is not None:
            return draft_nodes(self.plan)
        return tuple(node.report() for node in self.nodes.values())
