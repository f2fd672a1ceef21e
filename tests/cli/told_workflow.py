"""A stand-in for the real workflow that leaves the trace that its goal asks for."""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from harness.artifact import Artifact
    from harness.carry import RunInput
    from harness.run import RunResult, RunStatus
    from harness.trace import TraceEvent, TraceKind, TracePage
    from tests.builders import NO_BUDGET


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
            budget=NO_BUDGET,
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
        budget=NO_BUDGET,
        data={"tool": tool, **data},
    )
