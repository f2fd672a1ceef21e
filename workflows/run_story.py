"""The story of a run: it moves through the phases of harness.run until it has a result or goes on elsewhere."""

import asyncio
from typing import TypeVar

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.carry import Carry, RunInput
    from harness.catalog import Catalog
    from harness.errors import ErrorClass, classify
    from harness.plan import Plan
    from harness.recovery import describe_failure, failure_class
    from harness.reuse import reusable_results
    from harness.run import FAILED_STATUS, NEXT_PHASES, RunPhase, RunResult, RunStatus
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind

from workflows.answers import result_of
from workflows.continuing import hand_over, next_input, restore
from workflows.current_details import CurrentDetails
from workflows.describing import describe_tools
from workflows.lifetime import Lifetime
from workflows.plan_execution import PlanExecution
from workflows.planning import draw_up_plan
from workflows.recover import exhaust, recover
from workflows.run_core import OUT_OF_TIME, Ending
from workflows.run_state import RunState
from workflows.validating import check_plan
from workflows.verifying import verify

T = TypeVar("T")


class RunStory(Lifetime[RunResult]):
    """One workflow run of a run."""

    def __init__(self, given: RunInput) -> None:
        """Begin, or take up what the workflow run before has left."""
        self.state = RunState.begin(given)
        super().__init__(self.state)
        self._carry = given.carry
        self._details = CurrentDetails(self.state)
        self._execution: PlanExecution | None = None
        self._restoring: asyncio.Task[bool] | None = None

    async def _work(self) -> RunResult:
        phases = {
            RunPhase.CREATED: self._created,
            RunPhase.PLANNING: self._planning,
            RunPhase.VALIDATING: self._validating,
            RunPhase.EXECUTING: self._executing,
            RunPhase.RETRYING: self._retrying,
            RunPhase.VERIFYING: self._verifying,
            RunPhase.REPLANNING: self._replanning,
            RunPhase.CONTINUING: self._continuing,
        }
        while self.state.phase is not RunPhase.FINISHED:
            self._enter(await phases[self.state.phase]())
        return await self._finish()

    async def _created(self) -> RunPhase:
        state, carry = self.state, self._carry
        if carry is None:
            state.emit(TraceKind.RUN_START, "STARTED", message="run started")
        elif not await self._restored(carry):
            return RunPhase.FINISHED if state.ending else exhaust(state, {}, OUT_OF_TIME)
        elif carry.is_executing:
            self._execution = self._execution_of(self._plan, is_resumed=True)
            return RunPhase.EXECUTING
        return await describe_tools(state, self._clock)

    async def _restored(self, carry: Carry) -> bool:
        self._restoring = asyncio.create_task(restore(self.state, carry, is_hurried=self._is_hurried))
        await workflow.wait_condition(self._restoring.done)
        return self._restoring.result()

    async def _planning(self) -> RunPhase:
        return await draw_up_plan(self.state, self._catalog, self._clock)

    async def _validating(self) -> RunPhase:
        plan, catalog, state = self._plan, self._catalog, self.state
        reusable = reusable_results(plan, catalog, state.paid)
        phase = check_plan(state, plan, catalog, reusable=len(reusable))
        if phase is RunPhase.EXECUTING:
            self._execution = self._execution_of(plan)
            self._execution.reuse(reusable)
        return phase

    async def _executing(self) -> RunPhase:
        execution, state = self._running, self.state
        await execution.execute()
        if execution.is_paused:
            return RunPhase.CONTINUING
        status = "DONE" if execution.is_complete else "FAILED"
        state.emit(TraceKind.EXECUTION_FINISH, status, message="execution finished")
        if execution.is_complete:
            return RunPhase.VERIFYING
        failed = [node for node in state.nodes.values() if node.status is NodeStatus.FAILED]
        error_class = failure_class(tuple(classify(node.error_code) for node in failed))
        if state.refusal is not None and (not failed or error_class is not ErrorClass.FATAL):
            return exhaust(state, state.results, f"budget exhausted: {state.refusal}")
        message = f"{len(failed)} of {len(state.nodes)} nodes failed"
        return recover(state, error_class, message, unfinished=state.results)

    async def _retrying(self) -> RunPhase:
        state, wait = self.state, self.state.request.options.retry_wait
        state.retries += 1
        message = f"{self._running.unfinished} nodes run again in {wait.total_seconds():g} s"
        state.emit(TraceKind.RETRYING_START, "STARTED", message=message)
        await self._clock.sleep(wait, summary="wait before the retry")
        self._running.retry()
        return RunPhase.EXECUTING

    async def _verifying(self) -> RunPhase:
        return await verify(self.state, self._plan, self._catalog, self._clock)

    async def _replanning(self) -> RunPhase:
        last = self.state.failures[-1]
        self.state.emit(TraceKind.REPLANNING_START, "STARTED", message=describe_failure(last))
        return await self._hand_over(is_executing=False)

    async def _continuing(self) -> RunPhase:
        state = self.state
        message = f"{len(state.results)} of {len(state.nodes)} nodes are done; the rest runs in another workflow run"
        state.emit(TraceKind.RUN_CONTINUE, "STARTED", message=message)
        return await self._hand_over(is_executing=True)

    async def _hand_over(self, *, is_executing: bool) -> RunPhase:
        """Continue as new; return only when the state of the run could not be kept for that."""
        page = await hand_over(self.state, self._clock, is_executing=is_executing)
        if page is not None:
            await self._drain()
            self._spans.hand_over(is_executing=is_executing)
            workflow.continue_as_new(next_input(self.state, page, is_executing=is_executing))
        return RunPhase.FINISHED if self.state.ending else RunPhase.EXECUTING

    # Endings

    @property
    def _status_of_bug(self) -> RunStatus:
        return FAILED_STATUS.get(self.state.phase, RunStatus.FAILED_EXECUTION)

    @property
    def _status_of_cancel(self) -> RunStatus:
        return RunStatus.CANCELLED

    async def _stop(self, reason: str) -> None:
        await self._clock.cancel_open()
        if self._restoring is not None:
            await workflow.wait_condition(self._restoring.done)
        if self._execution is None and self.state.nodes:
            self._execution = self._execution_of(self._plan)
        if self._execution is not None:
            await self._execution.stop(reason)

    def _result(self, ending: Ending) -> RunResult:
        return result_of(self.state, ending)

    def _show(self) -> None:
        self.state.phase = RunPhase.FINISHED
        self._details.refresh()

    def _execution_of(self, plan: Plan, *, is_resumed: bool = False) -> PlanExecution:
        return PlanExecution(
            self.state,
            plan,
            self._catalog,
            must_stop=lambda: self._clock.is_over,
            on_change=self._details.refresh_if_due,
            is_resumed=is_resumed,
        )

    def _enter(self, phase: RunPhase) -> None:
        if phase not in NEXT_PHASES[self.state.phase]:
            msg = f"there is no way from {self.state.phase} to {phase}"
            raise RuntimeError(msg)
        self.state.phase = phase
        self._details.refresh()

    @property
    def _catalog(self) -> Catalog:
        return _known(self.state.catalog)

    @property
    def _plan(self) -> Plan:
        return _known(self.state.plan)

    @property
    def _running(self) -> PlanExecution:
        return _known(self._execution)


def _known(value: T | None) -> T:
    """Return what an earlier phase has set; anything else is a bug."""
    if value is None:
        msg = "the run is not that far yet"
        raise RuntimeError(msg)
    return value
