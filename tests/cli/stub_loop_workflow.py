"""A stand-in for the real agent loop: same names and shapes, and the goal says how it goes."""

import asyncio
from datetime import timedelta
from decimal import Decimal

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue, ValidationError

    from harness.artifact import Artifact
    from harness.budget import BudgetSnapshot, Extension, Limits
    from harness.carry import RunInput
    from harness.errors import ErrorClass, ErrorCode
    from harness.guardrail import Guardrail
    from harness.loop import LoopPhase, LoopResult, LoopStatus, LoopView, StepPage, StepRecord
    from harness.trace import TraceEvent, TraceKind, TraceSlice

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
class StubLoopWorkflow:
    """Plays what the goal says.

    Goals: `end STATUS`, `sleep SECONDS`, `doubtful`, `invent FIGURE...`, `echo TEXT`, `crossed`, `paged DIGEST SIZE`;
    anything else completes.
    """

    def __init__(self) -> None:
        self._limits = Limits()
        self._trace: list[TraceEvent] = []
        self._request: RunInput | None = None

    @workflow.run
    async def run(self, request: RunInput) -> LoopResult:
        self._request = request
        self._limits = request.options.limits
        self._emit(TraceKind.RUN_START, "STARTED", "run started")
        word, *rest = request.goal.split()
        try:
            status = await self._play(word, rest)
        except asyncio.CancelledError:
            status = LoopStatus.CANCELLED
        self._emit(TraceKind.RUN_FINISH, status, "\x1b[31mrun\x1b[0m finished")
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
            budget=self._budget(),
            trace=tuple(self._trace),
            model="stub",
            guardrails=(Guardrail.INJECTION, Guardrail.PII),
            ungrounded=tuple(rest) if word == "invent" else ("42", "12 USD") if word == "doubtful" else (),
        )

    @workflow.query
    def state(self) -> LoopView:
        request = self._request or RunInput(goal="?")
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
            budget=self._budget(),
            model="stub",
            trace_length=len(self._trace),
        )

    @workflow.query
    def trace(self, after: int = 0) -> TraceSlice:
        return TraceSlice(first=after, events=tuple(self._trace[after : after + 2]))

    @workflow.update
    async def extend(self, more: Extension) -> BudgetSnapshot:
        self._limits = more.applied_to(self._limits)
        return self._budget()

    async def _play(self, word: str, rest: list[str]) -> LoopStatus:
        match word:
            case "end":
                return LoopStatus(rest[0])
            case "sleep":
                await workflow.sleep(float(rest[0]))
            case "doubtful":
                flags: list[JsonValue] = [f"injection: search 1.{number}: \x1b[31morders" for number in range(5)]
                flags.append("grounding: answer: 42")
                self._emit(TraceKind.GUARDRAIL_FLAG, "FLAGGED", "6 findings", flags=flags)
        self._emit(TraceKind.STEP_FINISH, "DONE", "wants search, serach", step=1)
        self._emit(TraceKind.CALL_REFUSE, "REFUSED", "there is no such tool", call="1.2", tool="serach")
        self._emit(TraceKind.NODE_FINISH, "DONE", "", node_id="1.1", tool="search")
        return LoopStatus.COMPLETED

    def _emit(
        self, kind: TraceKind, status: str, message: str, *, node_id: str | None = None, **data: JsonValue
    ) -> None:
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
            budget=self._budget(),
            data=data,
        )
        self._trace.append(event)

    def _budget(self) -> BudgetSnapshot:
        return BudgetSnapshot(
            tokens=0,
            max_tokens=self._limits.max_tokens,
            tool_calls=3,
            max_tool_calls=self._limits.max_tool_calls,
            cost_usd=Decimal(0),
            max_cost_usd=self._limits.max_cost_usd,
            elapsed=workflow.now() - workflow.info().start_time,
            max_wall_clock=self._limits.max_wall_clock or timedelta(seconds=1),
            pressure=0.1,
        )
