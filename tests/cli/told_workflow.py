"""A stand-in for the real workflow that leaves the trace that its goal asks for."""

from datetime import timedelta
from decimal import Decimal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from harness.artifact import Artifact
    from harness.budget import BudgetSnapshot
    from harness.carry import RunInput
    from harness.run import RunResult, RunStatus
    from harness.trace import TraceEvent, TraceKind, TracePage

BUDGET = BudgetSnapshot(
    tokens=0,
    max_tokens=1,
    tool_calls=0,
    max_tool_calls=1,
    cost_usd=Decimal(0),
    max_cost_usd=Decimal(1),
    elapsed=timedelta(0),
    max_wall_clock=timedelta(1),
    pressure=0,
)


@workflow.defn(name="OrchestratorWorkflow")
class ToldWorkflow:
    """Goals: `calls`, `paged DIGEST SIZE`, `break`, `other`, `sleep`."""

    @workflow.run
    async def run(self, request: RunInput) -> RunResult | str:
        word, *rest = request.goal.split()
        match word:
            case "break":
                raise ApplicationError("a bug", type="INTERNAL", non_retryable=True)
            case "other":
                return "no result of ours"
            case "sleep":
                await workflow.sleep(3600)
        pages = (TracePage(artifact=Artifact(digest=rest[0], size=int(rest[1])), events=1),) if rest else ()
        return RunResult(
            run_id=workflow.info().workflow_id,
            session_id="",
            status=RunStatus.SUCCEEDED,
            budget=BUDGET,
            trace=(
                _event(TraceKind.NODE_RETRY, "flaky", ms=5, errorCode="TIMEOUT", **{"try": 1}),
                _event(TraceKind.NODE_FINISH, "flaky", ms=1500, tries=2),
                _event(TraceKind.NODE_FINISH, "\x1b[31msound", ms=20, tries=1),
                _event(TraceKind.NODE_REUSE, "\x1b[31msound"),
            ),
            trace_pages=pages,
        )


def _event(kind: TraceKind, tool: str, *, ms: int | None = None, **data: str | int) -> TraceEvent:
    return TraceEvent(
        timestamp=workflow.now(),
        run_id=workflow.info().workflow_id,
        session_id="",
        attempt=0,
        kind=kind,
        node_id=tool,
        status="",
        latency_ms=ms,
        budget=BUDGET,
        data={"tool": tool, **data},
    )
