"""The phase ACTING: make the calls of one step side by side, and settle them in the order in which they end."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.binding import Arguments
    from harness.budget import ONE_CALL
    from harness.call import Call
    from harness.catalog import Effect, ModelCard
    from harness.errors import ErrorCode
    from harness.grants import Grant, grant
    from harness.loop import LoopStatus
    from harness.loop_calls import CallResult, ToolCall
    from harness.memory import MEMORY_NAMES
    from harness.model_choice import ModelRole
    from harness.plan import PlanNode
    from harness.recovery import code_of_effect
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind
    from harness.wire_size import encoded_size

from workflows.call_outcome import Outcome, refuse, take
from workflows.clock import Clock
from workflows.flight import Flight, launch
from workflows.in_flight import InFlight
from workflows.loop_state import LoopState
from workflows.memory_call import use_memory
from workflows.node_outcome import ActivityFailure, failure_of
from workflows.node_state import NodeState
from workflows.run_core import OUT_OF_TIME
from workflows.settlement import charge_done, finish, settle_failed

NO_CALLS_LEFT = "the budget has no tool calls left, or not the tokens that the tool needs"


@dataclass
class Acting:
    """The calls of one step. Each holds one call of the budget from the start; further tries come from the rest."""

    loop: LoopState
    clock: Clock
    on_change: Callable[[], None]
    _waiting: deque[ToolCall] = field(default_factory=deque)
    _of_memory: deque[ToolCall] = field(default_factory=deque)
    """Made one after the other, because each builds on what is remembered."""
    _calls: dict[str, ToolCall] = field(default_factory=dict)
    _flights: InFlight = field(default_factory=InFlight)

    async def make(self, calls: tuple[ToolCall, ...]) -> None:
        """Make the calls for which the budget has one call each."""
        held = [call for call in calls if self._has_reserved(call)]
        self._calls = {call.id: call for call in held}
        self._waiting.extend(call for call in held if call.tool not in MEMORY_NAMES)
        self._of_memory.extend(call for call in held if call.tool in MEMORY_NAMES)
        self._start_waiting()
        while self._of_memory and not self.clock.is_over:
            await self._use_memory(self._of_memory.popleft())
        while self._is_at_work():
            self.on_change()
            await workflow.wait_condition(lambda: self._flights.has_ended or self.clock.is_over)
            self._settle_ended()
        if self.clock.is_over:
            await self.stop(OUT_OF_TIME)
        self.loop.note_pressure()

    async def stop(self, reason: str) -> None:
        """Start nothing more, cancel what is in flight, and wait until it has ended."""
        self.loop.budget.release(ONE_CALL.times(len(self._waiting) + len(self._of_memory)))
        self._waiting.clear()
        self._of_memory.clear()
        self._flights.cancel()
        while self._flights:
            await workflow.wait_condition(lambda: self._flights.has_ended)
            self._settle_ended(stopped=reason)

    def _has_reserved(self, call: ToolCall) -> bool:
        """Reserve a call; refuse it, and let the loop come to its end, when it does not fit."""
        if self.loop.budget.reserve(ONE_CALL):
            return True
        self._close_for_budget(call)
        return False

    def _is_at_work(self) -> bool:
        """Start what can be started, and return whether there is something to wait for."""
        if self.clock.is_over:
            return False
        self._start_waiting()
        return bool(self._flights)

    def _start_waiting(self) -> None:
        """Start calls; one whose tokens are reserved for others waits for those, and is refused when there are none."""
        limit = self.loop.request.options.max_concurrency
        for _ in range(len(self._waiting)):
            if len(self._flights) >= limit:
                return
            call = self._waiting.popleft()
            granted = self._granted(call)
            if granted is not None:
                self._start(call, granted)
            elif self._flights:
                self._waiting.append(call)
            else:
                self.loop.budget.release(ONE_CALL)
                self._close_for_budget(call)

    def _granted(self, call: ToolCall) -> Grant | None:
        loop, tool = self.loop, self.loop.tool(call.tool)
        return grant(tool, ONE_CALL, budget=loop.budget, card=self._card, is_high_pressure=loop.is_high_pressure)

    def _start(self, call: ToolCall, granted: Grant) -> None:
        loop, tool = self.loop, self.loop.tool(call.tool)
        state = NodeState(PlanNode(id=call.id, tool=call.tool, arguments=(), deps=()), tool.role)
        arguments = Arguments(call.arguments, most_bytes=encoded_size(call.arguments))
        flight = launch(loop, state, tool, call=Call(tool, arguments), granted=granted, card=self._card)
        self._flights.add(flight)
        loop.in_flight[call.id] = state
        loop.move(state, NodeStatus.RUNNING)
        loop.emit(TraceKind.NODE_START, state.status, node=state, data={"tool": tool.name})

    async def _use_memory(self, call: ToolCall) -> None:
        granted = self._granted(call)
        assert granted is not None  # noqa: S101 - a tool without a model needs no more than is held
        await use_memory(self.loop, self.clock, call, granted)

    def _close_for_budget(self, call: ToolCall) -> None:
        loop = self.loop
        if loop.rules.closing is None:
            loop.rules.must_close(LoopStatus.BUDGET_EXHAUSTED, NO_CALLS_LEFT)
            loop.emit(TraceKind.LOOP_CLOSE, LoopStatus.BUDGET_EXHAUSTED, message=NO_CALLS_LEFT)
        refuse(loop, call, NO_CALLS_LEFT, ErrorCode.QUOTA_EXHAUSTED)

    @property
    def _card(self) -> ModelCard:
        return self.loop.known_catalog.card_of(ModelRole.SYNTHESIS)

    # Settling

    def _settle_ended(self, stopped: str | None = None) -> None:
        for flight in self._flights.take_ended():
            self._settle(flight, stopped)
            flight.span.end(flight.state)

    def _settle(self, flight: Flight, stopped: str | None) -> None:
        loop, state = self.loop, flight.state
        call = self._calls[state.node.id]
        loop.in_flight.pop(call.id, None)
        failure = failure_of(flight.handle, granted_tries=flight.grant.tries)
        may_have_written = _may_have_written(flight, failure)
        loop.has_written = loop.has_written or (may_have_written and flight.tool.effect is Effect.WRITE)
        if failure is not None:
            settle_failed(loop, flight, failure, stopped)
            code, message = state.error_code or ErrorCode.TIMEOUT, state.error or ""
            result = CallResult(id=call.id, tool=call.tool, code=code, message=message)
        else:
            reply = flight.handle.result()
            finish(loop, flight, reply, charge_done(loop, flight, reply))
            held = {"artifact": reply.artifact} if reply.artifact else {"value": reply.value}
            result = CallResult.model_validate({"id": call.id, "tool": call.tool, **held})
        loop.usage = loop.usage.plus(state.usage)
        outcome = Outcome(result, state.tries, latency_ms=state.latency_ms, may_have_written=may_have_written)
        take(loop, call, outcome)


def _may_have_written(flight: Flight, failure: ActivityFailure | None) -> bool:
    """Return whether a call may have had its effect: a tool that fails on purpose says by its code that it has not."""
    if flight.tool.effect is Effect.READ or failure is None:
        return flight.tool.effect is not Effect.READ
    is_uncertain = code_of_effect(Effect.WRITE, failure.code) is ErrorCode.UNCERTAIN_EFFECT
    return failure.has_begun and is_uncertain
