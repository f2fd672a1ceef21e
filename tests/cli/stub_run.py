"""What the stand-ins for the real workflows have in common: a trace, limits that can be extended, and a budget."""

from datetime import timedelta
from decimal import Decimal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.budget import BudgetSnapshot, Extension, Limits
    from harness.carry import RunInput
    from harness.trace import TraceEvent, TraceKind
    from harness.trace_log import TraceSlice


class StubRun:
    """A run that does nothing."""

    def __init__(self) -> None:
        self._limits = Limits()
        self._trace: list[TraceEvent] = []
        self._request: RunInput | None = None

    def begin(self, request: RunInput) -> None:
        """Take the request, and begin the trace."""
        self._request = request
        self._limits = request.options.limits
        self.emit(TraceKind.RUN_START, "STARTED", "run started")

    @workflow.query
    def trace(self, after: int = 0) -> TraceSlice:
        return TraceSlice(first=after, events=tuple(self._trace[after : after + 2]))

    @workflow.update
    async def extend(self, more: Extension) -> BudgetSnapshot:
        self._limits = more.applied_to(self._limits)
        return self.budget()

    @extend.validator
    def _may_extend(self, more: Extension) -> None:
        if more.tokens == 13:
            raise ApplicationError("13 is refused", type="RUN_ENDED", non_retryable=True)

    @property
    def request(self) -> RunInput:
        """Return the request, or one that says nothing as long as there is none."""
        return self._request or RunInput(goal="?")

    @property
    def events(self) -> tuple[TraceEvent, ...]:
        """Return the trace so far."""
        return tuple(self._trace)

    def emit(
        self, kind: TraceKind, status: str, message: str, *, node_id: str | None = None, **data: JsonValue
    ) -> None:
        """Append an event."""
        event = TraceEvent(
            timestamp=workflow.now(),
            run_id=workflow.info().workflow_id,
            session_id="",
            attempt=0,
            kind=kind,
            node_id=node_id,
            status=status,
            latency_ms=12 if node_id else None,
            message=message,
            budget=self.budget(),
            data=data,
        )
        self._trace.append(event)

    def budget(self, tool_calls: int = 1) -> BudgetSnapshot:
        """Return a budget of which little is used."""
        return BudgetSnapshot(
            tokens=0,
            max_tokens=self._limits.max_tokens,
            tool_calls=tool_calls,
            max_tool_calls=self._limits.max_tool_calls,
            cost_usd=Decimal(0),
            max_cost_usd=self._limits.max_cost_usd,
            elapsed=workflow.now() - workflow.info().start_time,
            max_wall_clock=self._limits.max_wall_clock or timedelta(seconds=1),
            pressure=0.1,
        )
