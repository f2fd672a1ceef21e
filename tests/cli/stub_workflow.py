"""A stand-in for the real workflow: same names and shapes, and the goal says how it goes."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from harness.carry import RunInput
    from harness.plan import PlanNode
    from harness.run import NodeReport, RunPhase, RunResult, RunStatus, RunView
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind

from tests.cli.stub_run import StubRun

REPORT = "The report\nwith \x1b[31mred\x1b[0m and [bold]markup[/bold] and 日本"


@workflow.defn(name="OrchestratorWorkflow", failure_exception_types=[ValidationError])
class StubWorkflow(StubRun):
    """Goals: `end STATUS`, `sleep SECONDS`, `stubborn`, `refuse`, `break`; anything else succeeds."""

    @workflow.run
    async def run(self, request: RunInput) -> RunResult:
        self.begin(request)
        word, _, rest = request.goal.partition(" ")
        try:
            status = await self._play(word, rest)
        except asyncio.CancelledError:
            if word == "stubborn":
                await workflow.sleep(3600)
            self.emit(TraceKind.RUN_CANCEL, "CANCELLED", "cancelled")
            status = RunStatus.CANCELLED
        self.emit(TraceKind.RUN_FINISH, status, "\x1b[31mrun\x1b[0m finished")
        return RunResult(
            run_id=workflow.info().workflow_id,
            session_id=request.session_id,
            status=status,
            report=REPORT if status is RunStatus.SUCCEEDED else None,
            error=None if status is RunStatus.SUCCEEDED else "as asked",
            plan=self._nodes(),
            budget=self.budget(),
            trace=self.events,
            model="stub",
        )

    @workflow.query
    def state(self) -> RunView:
        request = self.request
        return RunView(
            run_id=workflow.info().workflow_id,
            session_id=request.session_id,
            goal=request.goal,
            phase=RunPhase.EXECUTING,
            attempt=0,
            nodes=self._nodes(),
            budget=self.budget(),
            trace_length=len(self.events),
        )

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
        self.emit(TraceKind.NODE_FINISH, "DONE", "first\nnode")
        return RunStatus.SUCCEEDED

    def _nodes(self) -> tuple[NodeReport, ...]:
        node = PlanNode(id="first", tool="a_tool", arguments=(), deps=())
        return (NodeReport(node=node, status=NodeStatus.RUNNING, tries=1),)
