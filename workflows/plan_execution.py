"""Execution of one plan: start what is ready, settle what has ended, until every node is terminal.

One loop owns everything. Activities run as handles; their ends are queued in the order in which Temporal delivers them,
which replay repeats.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.budget import Amount
    from harness.catalog import Catalog, ToolSpec
    from harness.errors import ToolError
    from harness.grants import base_reservation, grant, reserve_all
    from harness.model_choice import ModelRole
    from harness.plan import Plan
    from harness.schedule import BUDGET_EXHAUSTED, DEPENDENCY_FAILED, NodeStatus, Schedule
    from harness.trace import TraceKind

from workflows.flight import Arguments, Flight, launch, resolve
from workflows.node_outcome import failure_of
from workflows.node_state import NodeState
from workflows.run_state import OUT_OF_TIME, RunState
from workflows.settlement import fail, reuse, settle_done, settle_failed, skip

MAX_BYTES_IN_FLIGHT = 3_000_000
"""Arguments of all nodes in flight: over 4 MiB of commands in one task the server terminates the run."""


DOES_NOT_FIT = "the remaining work does not fit in what is left"
HISTORY_IS_FULL = "the history of this workflow run is full; plan fewer nodes or smaller results"


class StalledError(Exception):
    """Nodes are pending though none is ready or running."""


@dataclass
class PlanExecution:
    """Runs one validated plan within the budget of its run; can be run again for what is not DONE."""

    run: RunState
    plan: Plan
    catalog: Catalog
    must_stop: Callable[[], bool]
    """True when the wall clock is over."""
    on_change: Callable[[], None]
    """Called after each event, to refresh what the Web UI shows."""
    results: dict[str, JsonValue] = field(default_factory=dict)
    """Results of DONE nodes by node id."""
    refusal: str | None = None
    """Why work was not started, once that has happened."""
    _held: dict[str, Amount] = field(default_factory=dict)
    _flights: dict[str, Flight] = field(default_factory=dict)
    _ended: deque[str] = field(default_factory=deque)
    _schedule: Schedule = field(init=False)

    def __post_init__(self) -> None:
        """Take every node of the plan as PENDING."""
        self._tools: dict[str, ToolSpec] = {tool.name: tool for tool in self.catalog.tools}
        self._card = self.catalog.card_of(ModelRole.SYNTHESIS)
        self._nodes = {node.id: node for node in self.plan.nodes}
        self.run.nodes = {node.id: NodeState(node, self._tools[node.tool].role) for node in self.plan.nodes}
        self._schedule = Schedule.of(self.plan)

    @property
    def is_complete(self) -> bool:
        """Return whether every node is DONE."""
        return len(self.results) == len(self.plan.nodes)

    @property
    def unfinished(self) -> int:
        """Return how many nodes are not DONE."""
        return len(self.plan.nodes) - len(self.results)

    def reuse(self, results: dict[str, JsonValue]) -> None:
        """Take results that an earlier attempt has paid for, before anything starts."""
        for node_id in self._nodes:
            if node_id in results:
                self._reuse(node_id, results[node_id])

    async def execute(self) -> None:
        """Run every node that is not DONE until all are terminal or the time is over."""
        self._schedule = Schedule.of(self.plan, done=self.results)
        for node_id, status in self._schedule.status.items():
            self.run.nodes[node_id].status = status
        if not self._reserve_all():
            self.refusal = DOES_NOT_FIT
            self._skip_rest(BUDGET_EXHAUSTED)
            return
        while not self._schedule.is_finished and not self.must_stop():
            self._start_ready()
            if self._schedule.is_stalled:
                msg = f"{self.unfinished} nodes are pending though none is ready or running"
                raise StalledError(msg)
            await workflow.wait_condition(lambda: bool(self._ended) or self._schedule.is_finished or self.must_stop())
            self._settle_ended()
        if not self._schedule.is_finished:
            self.refusal = OUT_OF_TIME
            await self.stop(OUT_OF_TIME)

    async def stop(self, reason: str) -> None:
        """Cancel what is in flight, wait until it has ended, and skip the rest."""
        for flight in self._flights.values():
            flight.handle.cancel()
        while self._flights:
            await workflow.wait_condition(lambda: bool(self._ended))
            self._settle_ended(stopped=reason)
        self._skip_rest(reason)

    # Starting

    def _reserve_all(self) -> bool:
        """Reserve one call for every node that is to run, and the tokens of the final synthesis."""
        budget, options = self.run.budget, self.run.request.options
        held = {
            node_id: base_reservation(
                self._tools[node.tool],
                synthesis_tokens=options.synthesis_tokens,
                card=self._card,
                budget=budget,
            )
            for node_id, node in self._nodes.items()
            if node_id not in self.results
        }
        is_reserved = reserve_all(budget, held.values())
        self._held = held if is_reserved else {}
        return is_reserved

    def _start_ready(self) -> None:
        """Start ready nodes in plan order, as many as may be in flight."""
        limit = self.run.request.options.max_concurrency
        while len(self._flights) < limit and (node_id := self._schedule.peek_ready()) is not None:
            state, tool = self.run.nodes[node_id], self._tools[self._nodes[node_id].tool]
            try:
                arguments = resolve(state.node, tool, self.results)
            except ToolError as error:
                self._fail_before_start(state, error)
                continue
            if arguments.key is not None and arguments.key in self.run.paid:
                self._reuse(node_id, self.run.paid[arguments.key])
                self._skip_all(self._schedule.finish(node_id), DEPENDENCY_FAILED)
            elif not self._has_room_on_the_wire(arguments):
                return
            else:
                self._start(state, tool, arguments)

    def _has_room_on_the_wire(self, arguments: Arguments) -> bool:
        in_flight = sum(flight.arguments.size for flight in self._flights.values())
        return not self._flights or in_flight + arguments.size <= MAX_BYTES_IN_FLIGHT

    def _start(self, state: NodeState, tool: ToolSpec, arguments: Arguments) -> None:
        """Start a node, or skip it when its model tokens do not fit in the budget or history is full."""
        node_id, granted = state.node.id, None
        if not self.run.is_history_full:
            granted = grant(
                tool,
                self._held[node_id],
                budget=self.run.budget,
                card=self._card,
                is_high_pressure=self.run.is_high_pressure,
            )
        if granted is None:
            self.refusal = HISTORY_IS_FULL if self.run.is_history_full else DOES_NOT_FIT
            self._skip_all((node_id,), BUDGET_EXHAUSTED)
            self._skip_all(self._schedule.skip(node_id), DEPENDENCY_FAILED)
            return
        del self._held[node_id]
        flight = launch(self.run, state, tool, arguments=arguments, granted=granted, card=self._card)
        flight.handle.add_done_callback(lambda _: self._ended.append(node_id))
        self._flights[node_id] = flight
        self._schedule.start(node_id)
        state.status, state.error, state.error_code = NodeStatus.RUNNING, None, None
        self.run.emit(TraceKind.NODE_START, state.status, node=state, data={"tool": tool.name})
        self.on_change()

    def _fail_before_start(self, state: NodeState, error: ToolError) -> None:
        self._release(state.node.id)
        fail(self.run, state, error.code, error.message)
        self._skip_all(self._schedule.fail(state.node.id), DEPENDENCY_FAILED)

    def _reuse(self, node_id: str, value: JsonValue) -> None:
        self._release(node_id)
        self.results[node_id] = value
        reuse(self.run, self.run.nodes[node_id])

    # Settling

    def _settle_ended(self, stopped: str | None = None) -> None:
        while self._ended:
            flight = self._flights.pop(self._ended.popleft())
            self._settle(flight, stopped)
            flight.span.end(flight.state)
            self.run.note_pressure()
            self.on_change()

    def _settle(self, flight: Flight, stopped: str | None) -> None:
        node_id, failure = flight.state.node.id, failure_of(flight.handle, granted_tries=flight.grant.tries)
        if failure is None:
            reply = flight.handle.result()
            settle_done(self.run, flight, reply)
            self.results[node_id] = reply.value
            skipped = self._schedule.finish(node_id)
        else:
            settle_failed(self.run, flight, failure, stopped)
            is_cancelled = flight.state.status is NodeStatus.CANCELLED
            skipped = self._schedule.cancel(node_id) if is_cancelled else self._schedule.fail(node_id)
        self._skip_all(skipped, DEPENDENCY_FAILED)

    def _skip_rest(self, reason: str) -> None:
        for node_id in self._nodes:
            if not self._schedule.status[node_id].is_terminal:
                self._skip_all((node_id,), reason)
                self._skip_all(self._schedule.skip(node_id), DEPENDENCY_FAILED)

    def _skip_all(self, node_ids: tuple[str, ...], reason: str) -> None:
        for node_id in node_ids:
            self._release(node_id)
            skip(self.run, self.run.nodes[node_id], reason)

    def _release(self, node_id: str) -> None:
        held = self._held.pop(node_id, None)
        if held is not None:
            self.run.budget.release(held)
