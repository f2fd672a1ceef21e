"""The state that one orchestrator workflow owns: budget, trace, nodes, and what survives continue-as-new."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.budget import Budget, Extension
    from harness.carry import Carry, RunInput
    from harness.catalog import Catalog
    from harness.errors import INVALID_REQUEST, ErrorClass, ErrorCode, classify
    from harness.message_fit import fit_carry
    from harness.plan import Plan
    from harness.recovery import FAILURES_KEPT, FailureContext
    from harness.run import AttemptRecord, NodeReport, RunPhase, RunRequest, RunStatus, draft_nodes
    from harness.trace import TraceEvent, TraceKind
    from harness.verification import Verdict

from workflows.node_state import NodeState

OUT_OF_TIME = "the wall-clock limit is reached"
MESSAGE_IDS_KEPT = 200
MAX_HISTORY_BYTES = 40_000_000
MAX_HISTORY_EVENTS = 45_000
"""Temporal terminates a workflow run at 50 MiB or 51,200 events."""


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
    phase: RunPhase = RunPhase.CREATED
    retries: int = 0
    catalog: Catalog | None = None
    plan: Plan | None = None
    planned_by: str = ""
    """The model that answered with the plan."""
    nodes: dict[str, NodeState] = field(default_factory=dict)
    failures: list[FailureContext] = field(default_factory=list)
    attempts: list[AttemptRecord] = field(default_factory=list)
    paid: dict[str, JsonValue] = field(default_factory=dict)
    """Results of earlier attempts that may be reused, by reuse key."""
    earned: dict[str, JsonValue] = field(default_factory=dict)
    """Results of this attempt that a later one may reuse."""
    written: dict[str, JsonValue] = field(default_factory=dict)
    """Results of tools that write, of all attempts: a later one must reuse them."""
    trace: list[TraceEvent] = field(default_factory=list)
    trace_dropped: int = 0
    applied_messages: dict[str, None] = field(default_factory=dict)
    pressure_reported: bool = False
    feedback: str = ""
    verdict: Verdict | None = None
    ending: Ending | None = None

    @classmethod
    def begin(cls, given: RunInput) -> "RunState":
        """Start a run, or take it up again after continue-as-new."""
        info, carry = workflow.info(), given.carry
        if carry is not None and info.continued_run_id is None:
            raise ApplicationError(
                "carry is set by continue-as-new only; leave it out", type=INVALID_REQUEST, non_retryable=True
            )
        run_id = info.workflow_id
        request = RunRequest.model_validate(given.model_dump(exclude={"carry", "activity_queue"}, exclude_unset=True))
        if carry is None:
            budget = Budget(request.options.limits)
            return cls(request, run_id, workflow.now(), budget, given.activity_queue or None)
        return cls(
            request,
            run_id,
            carry.started_at,
            Budget(carry.limits, carry.ledger),
            given.activity_queue or None,
            attempt=carry.attempt,
            retries=carry.retries,
            failures=list(carry.failures),
            attempts=list(carry.attempts),
            paid=carry.paid | carry.written,
            written=dict(carry.written),
            trace=list(carry.trace),
            trace_dropped=carry.trace_dropped,
            applied_messages=dict.fromkeys(carry.applied_messages),
            pressure_reported=carry.pressure_reported,
            feedback=carry.feedback,
        )

    def next_input(self) -> RunInput:
        """Return the input of the next attempt, within what one message can hold."""
        carry = fit_carry(
            Carry(
                attempt=self.attempt + 1,
                started_at=self.started_at,
                limits=self.budget.limits,
                ledger=self.budget.ledger,
                retries=self.retries,
                failures=tuple(self.failures[-FAILURES_KEPT:]),
                attempts=tuple(self.attempts),
                paid={key: value for key, value in (self.paid | self.earned).items() if key not in self.written},
                written=self.written,
                trace=tuple(self.trace),
                trace_dropped=self.trace_dropped,
                applied_messages=tuple(self.applied_messages)[-MESSAGE_IDS_KEPT:],
                pressure_reported=self.pressure_reported,
                feedback=self.feedback,
            )
        )
        queue = {"activity_queue": self.activity_queue} if self.activity_queue else {}
        return RunInput.model_validate({**self.request.model_dump(exclude_unset=True), **queue, "carry": carry})

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
    def is_history_full(self) -> bool:
        """Return whether nothing more may start, because Temporal ends a run whose history outgrows its limits."""
        info = workflow.info()
        size, length = info.get_current_history_size(), info.get_current_history_length()
        return size > MAX_HISTORY_BYTES or length > MAX_HISTORY_EVENTS

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
        self.trace.append(
            TraceEvent(
                timestamp=workflow.now(),
                run_id=self.run_id,
                session_id=self.request.session_id,
                attempt=self.attempt,
                kind=kind,
                role=node.role if node else None,
                node_id=node.node.id if node else None,
                status=status,
                latency_ms=latency_ms,
                message=message,
                budget=self.budget.snapshot(self.elapsed),
                data=data or {},
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
