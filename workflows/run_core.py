"""What every run knows of itself, a plan run as well as an agent loop: request, budget, trace, and its ending."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.artifact import INLINE_BYTES
    from harness.budget import Budget, Extension
    from harness.catalog import Catalog
    from harness.errors import INVALID_REQUEST, ErrorClass, ErrorCode, classify
    from harness.guardrail import Guardrail, GuardReport
    from harness.loop import LoopStatus
    from harness.recovery import FailureContext
    from harness.run import RunRequest, RunStatus
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind, TracePage
    from harness.trace_writer import TraceWriter

from workflows.node_outcome import ActivityFailure
from workflows.node_state import NodeState

OUT_OF_TIME = "the wall-clock limit is reached"
MESSAGE_IDS_KEPT = 200
MAX_RUN_BYTES = 6_000_000
MAX_RUN_EVENTS = 9_000
"""A run goes on in the next workflow run beyond these, also on a server that does not suggest it."""


def request_of(given: RunRequest, *, is_carried: bool) -> RunRequest:
    """Return the request in the input of a workflow, whose other fields are the harness's own.

    Raises:
        ApplicationError: INVALID_REQUEST when a client sets what only continue-as-new may.
    """
    if is_carried and workflow.info().continued_run_id is None:
        msg = "carry is set by continue-as-new only; leave it out"
        raise ApplicationError(msg, type=INVALID_REQUEST, non_retryable=True)
    return RunRequest.model_validate(given.model_dump(include=set(RunRequest.model_fields), exclude_unset=True))


@dataclass
class Ending:
    """How the run ended."""

    status: RunStatus | LoopStatus
    report: str | None = None
    error: str | None = None
    error_code: ErrorCode | None = None
    error_class: ErrorClass | None = None

    @classmethod
    def of(
        cls,
        status: RunStatus | LoopStatus,
        *,
        report: str | None = None,
        error: str | None = None,
        error_code: ErrorCode | None = None,
        error_class: ErrorClass | None = None,
    ) -> "Ending":
        """Return an ending whose class follows from its code, unless it is given."""
        known_class = error_class or (classify(error_code) if error_code else None)
        return cls(status, report, error, error_code, known_class)

    @property
    def is_success(self) -> bool:
        """Return whether the run has reached its goal."""
        return self.status in {RunStatus.SUCCEEDED, LoopStatus.COMPLETED}


@dataclass
class RunCore:
    """What every run knows about itself."""

    request: RunRequest
    run_id: str
    started_at: datetime
    budget: Budget
    activity_queue: str | None = None
    """Task queue of the activities; None for that of the workflow."""
    attempt: int = 0
    attempt_started_at: datetime | None = None
    catalog: Catalog | None = None
    failures: list[FailureContext] = field(default_factory=list)
    """Why earlier attempts failed; an agent loop has none."""
    stays_until: int = 0
    """Length of the history before which the run does not go on elsewhere, because that has just failed."""
    feedback: str = ""
    """Why the last report was rejected."""
    inline_bytes: int = INLINE_BYTES
    """Largest encoded result of a tool that comes back inside the reply."""
    trace: list[bytes] = field(default_factory=list)
    """Events that are in no page, as JSON."""
    trace_pages: list[TracePage] = field(default_factory=list)
    applied_messages: dict[str, None] = field(default_factory=dict)
    pressure_reported: bool = False
    guardrails: dict[Guardrail, None] = field(default_factory=dict)
    """Those that ran, in the order of the chain."""
    ungrounded: tuple[str, ...] = ()
    """Figures of the last report or answer that come from nowhere."""
    is_traced: bool = False
    """Whether its spans go anywhere."""
    ending: Ending | None = None
    _writer_time: int = field(default=-1, init=False)
    """As of when the writer writes, in nanoseconds of workflow time."""
    _writer: TraceWriter = field(init=False)

    def __post_init__(self) -> None:
        """Be ready to write its trace."""
        self._writer = TraceWriter(self.run_id, self.request.session_id)

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
        """Return whether the run had better go on in another workflow run."""
        info = workflow.info()
        size, length = info.get_current_history_size(), info.get_current_history_length()
        is_long = info.is_continue_as_new_suggested() or size > MAX_RUN_BYTES or length > MAX_RUN_EVENTS
        return is_long and length >= self.stays_until

    @property
    def trace_offset(self) -> int:
        """Return how many events are in pages."""
        return sum(page.events for page in self.trace_pages)

    def keys_written(self) -> tuple[str, ...]:
        """Return the reuse keys of what earlier attempts have written."""
        return ()

    def move(self, node: NodeState, status: NodeStatus) -> None:
        """Give a node another state."""
        node.status = status

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
        time = workflow.time_ns()
        if time != self._writer_time:
            self._writer_time = time
            self._writer.at(workflow.now(), self.elapsed)
        self.trace.append(
            self._writer.write(
                kind,
                status,
                self.budget,
                attempt=self.attempt,
                role=node.role if node else None,
                node_id=node.node.id if node else None,
                latency_ms=latency_ms,
                message=message,
                data=data,
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

    def note_guard(self, report: GuardReport | None, *, node: NodeState | None = None) -> None:
        """Remember which guardrails ran, and tell in the trace what they have found."""
        if report is None:
            return
        ran = {*self.guardrails, *report.ran}
        self.guardrails = {guardrail: None for guardrail in Guardrail if guardrail in ran}
        if report.corrections:
            told_once = "figures from nowhere; the model was asked once more"
            self.emit(
                TraceKind.GUARDRAIL_CORRECT, "DONE", node=node, message=told_once, data={"calls": report.corrections}
            )
        if report.flags:
            told: list[JsonValue] = [f"{flag.guardrail}: {flag.where}: {flag.detail}" for flag in report.flags]
            data: dict[str, JsonValue] = {"flags": told, "untold": report.flags_untold}
            self.emit(TraceKind.GUARDRAIL_FLAG, "FLAGGED", node=node, message=f"{len(told)} findings", data=data)

    def note_failure(self, failure: ActivityFailure, *, node: NodeState | None = None) -> None:
        """Remember what the guardrails of a failed call say, and tell in the trace if one of them has stopped it."""
        self.note_guard(failure.guard, node=node)
        if failure.code is ErrorCode.GUARDRAIL_BLOCKED:
            self.emit(TraceKind.GUARDRAIL_BLOCK, "BLOCKED", node=node, message=failure.message)
