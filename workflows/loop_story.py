"""The story of an agent loop: the rules say what is next, and it is done, until there is a result or a next run."""

import asyncio
from typing import NoReturn, assert_never

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from activities.loop.loop_activities import LoopActivities
    from harness.agent_state import AgentState, next_effect
    from harness.catalog import Catalog
    from harness.errors import ErrorCode, ToolError, bounded
    from harness.loop import LoopPhase, LoopResult, LoopStatus
    from harness.loop_calls import BeginReply, BeginRequest
    from harness.loop_carry import LoopCarry, LoopInput
    from harness.loop_details import render_loop
    from harness.loop_effects import Ask, End, RunCalls, Summarise
    from harness.offered_tools import offered_tools
    from harness.partial_answer import partial_answer
    from harness.permissions import missing_tools_of_loop
    from harness.trace import TraceKind

from workflows.acting import Acting
from workflows.activity_options import STORE_LIMIT, STORE_TRIES, call_options
from workflows.asking import ask
from workflows.call_outcome import leave
from workflows.describing import Undescribed, catalog_of
from workflows.lifetime import Lifetime
from workflows.loop_answers import loop_result, whole_view
from workflows.loop_continuing import hand_over, next_input, restore
from workflows.loop_state import LoopState
from workflows.node_outcome import failure_of
from workflows.routing import route_tools
from workflows.run_core import OUT_OF_TIME, Ending
from workflows.summarising import summarise


class LoopStory(Lifetime[LoopResult]):
    """One workflow run of an agent loop."""

    def __init__(self, given: LoopInput) -> None:
        """Begin, or take up what the workflow run before has left."""
        self.state = LoopState.begin(given)
        super().__init__(self.state)
        self._given = given
        self._acting = Acting(self.state, self._clock, self._show)
        self._restoring: asyncio.Task[None] | None = None
        self._has_worked = False

    async def _work(self) -> LoopResult:
        await self._take_up(self._given.carry)
        while self.state.ending is None:
            await self._go_on()
        return await self._finish()

    async def _go_on(self) -> None:
        """Do what the rules say is next."""
        state, effect = self.state, next_effect(self.state.rules)
        if self._clock.is_over and not isinstance(effect, End):
            state.rules.refuse(LoopStatus.TIMEOUT, OUT_OF_TIME)
            return
        match effect:
            case Ask():
                await self._ask(effect)
            case RunCalls():
                self._enter(LoopPhase.ACTING)
                await self._acting.make(effect.calls)
            case Summarise():
                self._enter(LoopPhase.SUMMARISING)
                await summarise(state, self._clock)
            case End():
                self._end_by_rule(effect)
            case _:
                assert_never(effect)
        self._has_worked = True

    async def _ask(self, wanted: Ask) -> None:
        """Ask for the next step, here or in the next workflow run of the chain; one step at least is made in each."""
        if not self._has_worked or not self.state.is_history_long:
            self._enter(LoopPhase.ASKING)
            await ask(self.state, self._clock, wanted)
        elif await hand_over(self.state, self._clock):
            await self._continue_as_new()

    # The first phase

    async def _take_up(self, carry: LoopCarry | None) -> None:
        if carry is None:
            self.state.emit(TraceKind.RUN_START, "STARTED", message="agent loop started")
            self._show()
            await self._begin()
            return
        self._restoring = asyncio.create_task(restore(self.state, carry, is_hurried=self._is_hurried))
        await workflow.wait_condition(self._restoring.done)
        self._restoring.result()

    async def _begin(self) -> None:
        """Describe the tools, pick some of many, check the goal, and keep both as the frame of the loop."""
        state = self.state
        found = await catalog_of(state, self._clock)
        if isinstance(found, Undescribed):
            self._fail_early(found.why, found.code)
            return
        lacking = missing_tools_of_loop(found)
        if lacking is not None:
            self._fail_early(lacking, ErrorCode.INVALID_ARGUMENT)
            return
        state.catalog = await route_tools(state, found, self._clock)
        try:
            offered_tools(state.catalog)
        except ToolError as error:
            self._fail_early(error.message, error.code)
            return
        begun = self._start_frame(state.catalog)
        await self._clock.wait_for(begun)
        failure = failure_of(begun, granted_tries=STORE_TRIES)
        if failure is not None:
            state.note_failure(failure)
            self._fail_early(failure.message, None if failure.was_cancelled else failure.code)
            return
        self._take_frame(begun.result())

    def _start_frame(self, catalog: Catalog) -> "ActivityHandle[BeginReply]":
        said = {"given": self._given.given, "stored": self._given.stored}
        request = BeginRequest.model_validate(
            {
                "goal": self.state.request.goal,
                "catalog": catalog,
                **{name: value for name, value in said.items() if value},
            }
        )
        queue = self.state.activity_queue
        return workflow.start_activity_method(
            LoopActivities.begin_loop,
            request,
            **call_options(STORE_LIMIT, tries=STORE_TRIES, queue=queue, summary="goal and tools"),
        )

    def _take_frame(self, reply: BeginReply) -> None:
        state = self.state
        state.note_guard(reply.guard)
        state.frame = reply.frame
        options = state.request.options.loop
        state.agent = AgentState.begin(options, state.call_rules, reply.prompt_tokens, written=self._given.written)

    def _fail_early(self, why: str, code: ErrorCode | None) -> None:
        """End a loop that has made no step; without a code its time was over."""
        status = LoopStatus.TIMEOUT if code is None else LoopStatus.FAILED
        self._end(Ending.of(status, error=bounded(why), error_code=code))

    # Endings

    async def _continue_as_new(self) -> NoReturn:
        self._enter(LoopPhase.CONTINUING)
        await self._drain()
        self._spans.hand_over(is_executing=True)
        workflow.continue_as_new(next_input(self.state, self._given))

    def _end_by_rule(self, end: End) -> None:
        self._end(Ending.of(end.status, report=end.answer, error=end.reason or None, error_code=end.error_code))

    def _end(self, ending: Ending) -> None:
        """Take an ending; a loop that did not complete and has no answer gets a partial one of what it has found."""
        why = ending.error or ending.status.value
        leave(self.state, why, ending.error_code or ErrorCode.TIMEOUT)
        if ending.report is None and ending.status is not LoopStatus.COMPLETED:
            ending.report = self.state.best_answer or partial_answer(why, self.state.recent)
        super()._end(ending)

    @property
    def _status_of_bug(self) -> LoopStatus:
        return LoopStatus.FAILED

    @property
    def _status_of_cancel(self) -> LoopStatus:
        return LoopStatus.CANCELLED

    async def _stop(self, reason: str) -> None:
        await self._clock.cancel_open()
        if self._restoring is not None:
            await workflow.wait_condition(self._restoring.done)
        await self._acting.stop(reason)

    def _result(self, ending: Ending) -> LoopResult:
        return loop_result(self.state, ending)

    def _enter(self, phase: LoopPhase) -> None:
        self.state.phase = phase
        self._show()

    def _show(self) -> None:
        if self.state.ending is not None:
            self.state.phase = LoopPhase.FINISHED
        workflow.set_current_details(render_loop(whole_view(self.state)))
