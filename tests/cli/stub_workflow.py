"""A stand-in for the real workflow: same names and shapes, and the goal says how it goes."""

import asyncio
from datetime import timedelta
from decimal import Decimal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from harness.budget import BudgetSnapshot, Extension, Limits
    from harness.carry import RunInput
    from harness.plan import PlanNode
    from harness.run import NodeReport, RunPhase, RunResult, RunStatus, RunView
    from harness.schedule import NodeStatus
    from harness.trace import TraceEvent, TraceKind, TraceSlice

REPORT = "The report\nwith \x1b[31mred\x1b[0m and [bold]markup[/bold] and 日本"


@workflow.defn(name="OrchestratorWorkflow", failure_exception_types=[ValidationError])
class StubWorkflow:
    """Goals: `end STATUS`, `sleep SECONDS`, `stubborn`, `refuse`, `break`; anything else succeeds."""

    def __init__(self) -> None:
        self._limits = Limits()
        self._trace: list[TraceEvent] = []
        self._request: RunInput | None = None

    @workflow.run
    async def run(self, request: RunInput) -> RunResult:
        self._request = request
        self._limits = request.options.limits
        self._emit(TraceKind.RUN_START, "STARTED", "run started")
        word, _, rest = request.goal.partition(" ")
        try:
            status = await self._play(word, rest)
        except asyncio.CancelledError:
            if word == "stubborn":
                await workflow.sleep(3600)
            self._emit(TraceKind.RUN_CANCEL, "CANCELLED", "cancelled")
            status = RunStatus.CANCELLED
        self._emit(TraceKind.RUN_FINISH, status, "\x1b[31mrun\x1b[0m finished")
        return RunResult(
            run_id=workflow.info().workflow_id,
            session_id=request.session_id,
            status=status,
            report=REPORT if status is RunStatus.SUCCEEDED else None,
            error=None if status is RunStatus.SUCCEEDED else "as asked",
            plan=self._nodes(),
            budget=self._budget(),
            trace=tuple(self._trace),
            model="stub",
        )

    @workflow.query
    def state(self) -> RunView:
        request = self._request or RunInput(goal="?")
        return RunView(
            run_id=workflow.info().workflow_id,
            session_id=request.session_id,
            goal=request.goal,
            phase=RunPhase.EXECUTING,
            attempt=0,
            nodes=self._nodes(),
            budget=self._budget(),
            trace_length=len(self._trace),
        )

    @workflow.query
    def trace(self, after: int = 0) -> TraceSlice:
        return TraceSlice(first=after, events=tuple(self._trace[after : after + 2]))

    @workflow.update
    async def extend(self, more: Extension) -> BudgetSnapshot:
        self._limits = more.applied_to(self._limits)
        return self._budget()

    @extend.validator
    def _may_extend(self, more: Extension) -> None:
        if more.tokens == 13:
            raise ApplicationError("13 is refused", type="RUN_ENDED", non_retryable=True)

    async def _play(self, word: str, rest: str) -> RunStatus:
        match word:
            case "end":
                return RunStatus(rest)
            case "stubborn":
                await workflow.sleep(3600)
            case "sleep":
                await workflow.sleep(float(rest))
            case "refuse":
                raise ApplicationError("toolkit 'x' is unknown; use games", type="UNKNOWN_TOOLKIT", non_retryable=True)
            case "break":
                raise ApplicationError("a bug", type="INTERNAL", non_retryable=True)
        self._emit(TraceKind.NODE_FINISH, "DONE", "first\nnode")
        return RunStatus.SUCCEEDED

    def _nodes(self) -> tuple[NodeReport, ...]:
        node = PlanNode(id="first", tool="a_tool", arguments=(), deps=())
        return (NodeReport(node=node, status=NodeStatus.RUNNING, tries=1),)

    def _emit(self, kind: TraceKind, status: str, message: str) -> None:
        event = TraceEvent(
            timestamp=workflow.now(),
            run_id=workflow.info().workflow_id,
            session_id="",
            attempt=0,
            kind=kind,
            status=status,
            message=message,
            budget=self._budget(),
        )
        self._trace.append(event)

    def _budget(self) -> BudgetSnapshot:
        return BudgetSnapshot(
            tokens=0,
            max_tokens=self._limits.max_tokens,
            tool_calls=1,
            max_tool_calls=self._limits.max_tool_calls,
            cost_usd=Decimal(0),
            max_cost_usd=self._limits.max_cost_usd,
            elapsed=workflow.now() - workflow.info().start_time,
            max_wall_clock=self._limits.max_wall_clock or timedelta(seconds=1),
            pressure=0.1,
        )
