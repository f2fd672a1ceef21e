"""The plan run: plan, validate, execute, verify, and replan on failure."""

import asyncio
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from harness.budget import BudgetSnapshot, Extension
    from harness.carry import RunInput
    from harness.catalog import Catalog
    from harness.errors import ErrorClass, ErrorCode, bounded, classify
    from harness.message_fit import MAX_MESSAGE_BYTES
    from harness.plan import Plan
    from harness.recovery import describe_failure, failure_class
    from harness.reuse import reusable_results
    from harness.run import FAILED_STATUS, NEXT_PHASES, RunPhase, RunResult, RunStatus, RunView
    from harness.schedule import NodeStatus
    from harness.trace import TraceEvent, TraceKind
    from harness.wire_size import Room

from workflows.answers import result_of, view_of
from workflows.clock import Clock
from workflows.current_details import CurrentDetails
from workflows.describing import describe_tools
from workflows.internal_errors import describe_bug, guarded
from workflows.plan_execution import PlanExecution
from workflows.planning import draw_up_plan
from workflows.recover import exhaust, recover
from workflows.run_state import RunState
from workflows.spans import RunSpans
from workflows.validating import check_plan
from workflows.verifying import verify

T = TypeVar("T")

TRACE_PAGE = 1000
"""Most events that one answer of the query `trace` holds."""


@workflow.defn(failure_exception_types=[ValidationError])
class OrchestratorWorkflow:
    """One run: `run()` moves through the phases of harness.run until it has a result."""

    def __init__(self) -> None:
        """Create a run that has not begun."""
        self._run: RunState | None = None
        self._time: Clock | None = None
        self._run_spans: RunSpans | None = None
        self._execution: PlanExecution | None = None
        self._details: CurrentDetails | None = None

    @workflow.run
    async def run(self, given: RunInput) -> RunResult:
        """Run the goal to a terminal status; a client sends a RunRequest."""
        self._run = RunState.begin(given)
        self._time = Clock(self._run)
        self._details = CurrentDetails(self._run)
        self._run_spans = RunSpans(self._run)
        try:
            return await guarded(self._work(), self._end_with_bug)
        except asyncio.CancelledError:
            return await self._end_cancelled()
        except ApplicationError as error:
            self._run_spans.end(error.type)
            raise

    @workflow.query
    def state(self) -> RunView:
        """Return the run as it is now."""
        return view_of(self._state)

    @workflow.query
    def trace(self, after: int = 0) -> tuple[TraceEvent, ...]:
        """Return at most 1,000 trace events from index `after` on, fewer when they are long; call until none comes."""
        start = max(0, after - self._state.trace_dropped)
        return Room(MAX_MESSAGE_BYTES).first(self._state.trace[start : start + TRACE_PAGE])

    @workflow.update
    async def extend(self, more: Extension) -> BudgetSnapshot:
        """Raise the limits of the run; a repeated message id is applied once."""
        await workflow.wait_condition(lambda: self._run is not None)
        self._state.extend(more)
        return self._state.budget.snapshot(self._state.elapsed)

    @extend.validator
    def _extend_is_possible(self, more: Extension) -> None:  # noqa: ARG002 - the SDK's signature
        if self._run is not None and (self._run.ending or self._clock.is_over):
            msg = "the run has ended or its time is over; start another run with higher limits"
            raise ApplicationError(msg, type="RUN_ENDED", non_retryable=True)

    # The story

    async def _work(self) -> RunResult:
        phases = {
            RunPhase.CREATED: self._created,
            RunPhase.PLANNING: self._planning,
            RunPhase.VALIDATING: self._validating,
            RunPhase.EXECUTING: self._executing,
            RunPhase.RETRYING: self._retrying,
            RunPhase.VERIFYING: self._verifying,
            RunPhase.REPLANNING: self._replanning,
        }
        while self._state.phase is not RunPhase.FINISHED:
            self._enter(await phases[self._state.phase]())
        return await self._finish()

    async def _created(self) -> RunPhase:
        if self._state.attempt == 0:
            self._state.emit(TraceKind.RUN_START, "STARTED", message="run started")
        return await describe_tools(self._state, self._clock)

    async def _planning(self) -> RunPhase:
        return await draw_up_plan(self._state, self._catalog, self._clock)

    async def _validating(self) -> RunPhase:
        plan, catalog, state = self._plan, self._catalog, self._state
        reusable = reusable_results(plan, catalog, state.paid)
        phase = check_plan(state, plan, catalog, reusable=len(reusable))
        if phase is RunPhase.EXECUTING:
            self._execution = PlanExecution(
                state, plan, catalog, must_stop=lambda: self._clock.is_over, on_change=self._shown.refresh_if_due
            )
            self._execution.reuse(reusable)
        return phase

    async def _executing(self) -> RunPhase:
        execution, state = self._running, self._state
        await execution.execute()
        status = "DONE" if execution.is_complete else "FAILED"
        state.emit(TraceKind.EXECUTION_FINISH, status, message="execution finished")
        if execution.is_complete:
            return RunPhase.VERIFYING
        failed = [node for node in state.nodes.values() if node.status is NodeStatus.FAILED]
        error_class = failure_class(tuple(classify(node.error_code) for node in failed))
        if execution.refusal is not None and (not failed or error_class is not ErrorClass.FATAL):
            return exhaust(state, execution.results, f"budget exhausted: {execution.refusal}")
        message = f"{len(failed)} of {len(state.nodes)} nodes failed"
        return recover(state, error_class, message, unfinished=execution.results)

    async def _retrying(self) -> RunPhase:
        state, wait = self._state, self._state.request.options.retry_wait
        state.retries += 1
        message = f"{self._running.unfinished} nodes run again in {wait.total_seconds():g} s"
        state.emit(TraceKind.RETRYING_START, "STARTED", message=message)
        await self._clock.sleep(wait, summary="wait before the retry")
        return RunPhase.EXECUTING

    async def _verifying(self) -> RunPhase:
        return await verify(self._state, self._running, self._clock)

    async def _replanning(self) -> RunPhase:
        last = self._state.failures[-1]
        self._state.emit(TraceKind.REPLANNING_START, "STARTED", message=describe_failure(last))
        await self._drain()
        self._spans.hand_over()
        workflow.continue_as_new(self._state.next_input())

    # Endings

    async def _end_with_bug(self, bug: Exception) -> RunResult:
        """End a run whose own code failed, with everything that it has."""
        status = FAILED_STATUS.get(self._state.phase, RunStatus.FAILED_EXECUTION)
        await self._stop("internal error")
        self._state.end(status, error=describe_bug(bug), error_code=ErrorCode.INTERNAL)
        return await self._finish()

    async def _end_cancelled(self) -> RunResult:
        """Cancel what is in flight, wait for it, and end the run; one that has its ending already keeps it."""
        stopping = asyncio.create_task(self._stop("cancelled"))
        while not stopping.done():
            try:
                await workflow.wait_condition(stopping.done)
            except asyncio.CancelledError:
                workflow.logger.info("cancelled again while work in flight is being cancelled")
        stopping.result()
        if self._state.ending is None:
            reason = bounded(workflow.cancellation_reason() or "cancelled on request")
            self._state.emit(TraceKind.RUN_CANCEL, "CANCELLED", message=reason)
            self._state.end(RunStatus.CANCELLED, error=reason)
        return await self._finish()

    async def _stop(self, reason: str) -> None:
        await self._clock.cancel_open()
        if self._execution is not None:
            await self._execution.stop(reason)

    async def _finish(self) -> RunResult:
        await self._drain()
        ending = self._state.ending
        assert ending is not None  # noqa: S101 - FINISHED is only entered with an ending
        self._state.phase = RunPhase.FINISHED
        self._state.emit(TraceKind.RUN_FINISH, ending.status, message=ending.error)
        self._shown.refresh()
        self._spans.end()
        return result_of(self._state, ending)

    async def _drain(self) -> None:
        """Let every message handler end and stop the clock before the workflow run closes."""
        await self._clock.stop()
        await workflow.wait_condition(workflow.all_handlers_finished)

    # What is known so far

    def _enter(self, phase: RunPhase) -> None:
        if phase not in NEXT_PHASES[self._state.phase]:
            msg = f"there is no way from {self._state.phase} to {phase}"
            raise RuntimeError(msg)
        self._state.phase = phase
        self._shown.refresh()

    @property
    def _state(self) -> RunState:
        return _known(self._run)

    @property
    def _clock(self) -> Clock:
        return _known(self._time)

    @property
    def _shown(self) -> CurrentDetails:
        return _known(self._details)

    @property
    def _spans(self) -> RunSpans:
        return _known(self._run_spans)

    @property
    def _catalog(self) -> Catalog:
        return _known(self._state.catalog)

    @property
    def _plan(self) -> Plan:
        return _known(self._state.plan)

    @property
    def _running(self) -> PlanExecution:
        return _known(self._execution)


def _known(value: T | None) -> T:
    """Return what an earlier phase has set; anything else is a bug."""
    if value is None:
        msg = "the run is not that far yet"
        raise RuntimeError(msg)
    return value
