"""A stand-in for the real agent loop: same names and shapes, and the goal says how it goes."""

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue, ValidationError

    from harness.artifact import Artifact
    from harness.carry import RunInput
    from harness.errors import ErrorClass, ErrorCode
    from harness.guardrail import Guardrail
    from harness.loop import LoopPhase, LoopResult, LoopStatus, LoopView, StepPage, StepRecord
    from harness.trace import TraceKind

from tests.cli.stub_run import StubRun

ANSWER = "The answer\nwith \x1b[31mred\x1b[0m and 日本"
STEPS = (
    StepRecord(
        number=1,
        call="1.1",
        tool="search",
        arguments={"query": "a \x1b[31mcalm\x1b[0m game"},
        success=True,
        result={"found": 3},
        tries=1,
        latency_ms=12,
    ),
    StepRecord(
        number=1,
        call="1.2",
        tool="read",
        success=True,
        artifact=Artifact(digest="a" * 64, size=20_000),
        tries=2,
        latency_ms=5,
    ),
    StepRecord(
        number=2,
        call="2.1",
        tool="serach",
        success=False,
        error="tool 'serach' is unknown; did you mean search?",
        error_code=ErrorCode.UNKNOWN_TOOL,
    ),
)


@workflow.defn(name="AgentLoopWorkflow", failure_exception_types=[ValidationError])
class StubLoopWorkflow(StubRun):
    """Plays what the goal says.

    Goals: `end STATUS`, `sleep SECONDS`, `doubtful`, `invent FIGURE...`, `echo TEXT`, `crossed`, `paged DIGEST SIZE`;
    anything else completes.
    """

    @workflow.run
    async def run(self, request: RunInput) -> LoopResult:
        self.begin(request)
        word, *rest = request.goal.split()
        try:
            status = await self._play(word, rest)
        except asyncio.CancelledError:
            status = LoopStatus.CANCELLED
        self.emit(TraceKind.RUN_FINISH, status, "\x1b[31mrun\x1b[0m finished")
        is_paged = word == "paged"
        pages = (StepPage(artifact=Artifact(digest=rest[0], size=int(rest[1])), steps=1),) if is_paged else ()
        return LoopResult(
            run_id=workflow.info().workflow_id,
            session_id=request.session_id,
            status=status,
            report=request.goal if word == "echo" else ANSWER,
            error=None if status is LoopStatus.COMPLETED else "as asked",
            error_class=ErrorClass.FATAL if status is LoopStatus.FAILED else None,
            error_code=ErrorCode.GUARDRAIL_BLOCKED if status is LoopStatus.FAILED else None,
            steps_made=2,
            steps=STEPS[1:] if is_paged else STEPS[::-1] if word == "crossed" else STEPS,
            step_pages=pages,
            budget=self.budget(tool_calls=3),
            trace=self.events,
            model="stub",
            guardrails=(Guardrail.INJECTION, Guardrail.PII),
            ungrounded=tuple(rest) if word == "invent" else ("42", "12 USD") if word == "doubtful" else (),
        )

    @workflow.query
    def state(self) -> LoopView:
        request = self.request
        return LoopView(
            run_id=workflow.info().workflow_id,
            session_id=request.session_id,
            goal=request.goal,
            phase=LoopPhase.ACTING,
            steps_made=2,
            max_steps=request.options.loop.max_steps,
            steps=STEPS[2:],
            in_flight=("search",),
            context_tokens=1234,
            budget=self.budget(tool_calls=3),
            model="stub",
            trace_length=len(self.events),
        )

    async def _play(self, word: str, rest: list[str]) -> LoopStatus:
        match word:
            case "end":
                return LoopStatus(rest[0])
            case "sleep":
                await workflow.sleep(float(rest[0]))
            case "doubtful":
                flags: list[JsonValue] = [f"injection: search 1.{number}: \x1b[31morders" for number in range(5)]
                flags.append("grounding: answer: 42")
                self.emit(TraceKind.GUARDRAIL_FLAG, "FLAGGED", "6 findings", flags=flags)
        self.emit(TraceKind.STEP_FINISH, "DONE", "wants search, serach", step=1)
        self.emit(TraceKind.CALL_REFUSE, "REFUSED", "there is no such tool", call="1.2", tool="serach")
        self.emit(TraceKind.NODE_FINISH, "DONE", "", node_id="1.1", tool="search")
        return LoopStatus.COMPLETED
