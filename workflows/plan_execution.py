"""Execution of one plan: start what is ready, settle what has ended, until every node is terminal.

One loop owns everything, and settles nodes in the order in which Temporal delivers their ends, which replay repeats.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.artifact import Result
    from harness.call import Call
    from harness.catalog import Catalog, ToolSpec
    from harness.errors import ToolError
    from harness.grants import Grant, agent_grant, base_reservation, grant
    from harness.model_choice import ModelRole
    from harness.plan import Plan
    from harness.reservations import Reservations
    from harness.result_facts import ResultFacts
    from harness.schedule import BUDGET_EXHAUSTED, DEPENDENCY_FAILED, NodeStatus, Schedule
    from harness.signature import Signature
    from harness.trace import TraceKind

from workflows.agent_flight import launch_agent
from workflows.flight import Flight, launch, resolve
from workflows.in_flight import InFlight
from workflows.node_check import check_call, is_agent
from workflows.node_outcome import failure_of
from workflows.node_state import NodeState
from workflows.run_core import OUT_OF_TIME
from workflows.run_state import RunState
from workflows.settlement import fail, reuse, settle_done, settle_failed, skip

DOES_NOT_FIT = "the remaining work does not fit in what is left"


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
    """Called when nodes have started or ended, to refresh what the Web UI shows."""
    is_resumed: bool = False
    """True until the first execution, when an earlier workflow run of the chain has begun with the plan."""
    _flights: InFlight = field(default_factory=InFlight)
    _schedule: Schedule = field(init=False)

    def __post_init__(self) -> None:
        """Take the nodes as the run knows them; those it does not know are PENDING."""
        self._tools: dict[str, ToolSpec] = {tool.name: tool for tool in self.catalog.tools}
        self._facts = ResultFacts(self.run.results)
        self._signatures = {name: Signature(tool) for name, tool in self._tools.items()}
        self._card = self.catalog.card_of(ModelRole.SYNTHESIS)
        self._nodes = {node.id: node for node in self.plan.nodes}
        self._settled = 0
        self._held = Reservations(self.run.budget)
        if not self.run.nodes:
            self.run.take_nodes({node.id: NodeState(node, self._tools[node.tool].role) for node in self.plan.nodes})
        self._schedule = Schedule.of(self.plan, self._ended_nodes())

    @property
    def is_complete(self) -> bool:
        """Return whether every node is DONE."""
        return self.unfinished == 0

    @property
    def unfinished(self) -> int:
        """Return how many nodes are not DONE."""
        return len(self.plan.nodes) - len(self.run.results)

    @property
    def is_paused(self) -> bool:
        """Return whether nothing is in flight, but something is to be started in another workflow run."""
        return not self._flights and not self._schedule.is_finished and self._must_pause

    def reuse(self, results: dict[str, Result]) -> None:
        """Take results that an earlier attempt has paid for, before anything starts."""
        for node_id in self._nodes:
            if node_id in results:
                self._reuse(node_id, results[node_id])
                self._schedule.finish(node_id)

    def retry(self) -> None:
        """Let every node that is not DONE run again."""
        for node_id, state in self.run.nodes.items():
            if node_id not in self.run.results:
                self.run.move(state, NodeStatus.PENDING)
        self.run.refusal = None
        self._schedule = Schedule.of(self.plan, self._ended_nodes())

    async def execute(self) -> None:
        """Run every node that has not ended until all have, the time is over, or the plan must pause."""
        if self._held.is_empty and not self._reserve_all():
            self.run.refusal = DOES_NOT_FIT
            self._skip_rest(BUDGET_EXHAUSTED)
            return
        while not self._schedule.is_finished and not self.must_stop() and not self.is_paused:
            if not self._must_pause:
                self._start_ready()
            self.on_change()
            if self._schedule.is_stalled:
                msg = f"{self.unfinished} nodes are pending though none is ready or running"
                raise StalledError(msg)
            await workflow.wait_condition(self._has_news)
            self._settle_ended()
        if self.must_stop() and not self._schedule.is_finished:
            self.run.refusal = OUT_OF_TIME
            await self.stop(OUT_OF_TIME)

    async def stop(self, reason: str) -> None:
        """Cancel what is in flight, wait until it has ended, and skip the rest."""
        self._flights.cancel()
        while self._flights:
            await workflow.wait_condition(lambda: self._flights.has_ended)
            self._settle_ended(stopped=reason)
        self._skip_rest(reason)

    @property
    def _must_pause(self) -> bool:
        """Return whether nothing more may start here; one node at least is settled in each workflow run."""
        return self._settled > 0 and self.run.is_history_long

    def _has_news(self) -> bool:
        return self._flights.has_ended or self._schedule.is_finished or self.is_paused or self.must_stop()

    def _ended_nodes(self) -> dict[str, NodeStatus]:
        return {node_id: state.status for node_id, state in self.run.nodes.items() if state.status.is_terminal}

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
            if not self._schedule.status[node_id].is_terminal
        }
        if not self.is_resumed:
            return self._held.reserve(held)
        self.is_resumed = False
        self._held.hold(held)
        return True

    def _start_ready(self) -> None:
        """Start ready nodes in plan order, as many as may be in flight."""
        limit, is_high_pressure = self.run.request.options.max_concurrency, self.run.is_high_pressure
        while len(self._flights) < limit and (node_id := self._schedule.peek_ready()) is not None:
            state, tool = self.run.nodes[node_id], self._tools[self._nodes[node_id].tool]
            try:
                call = resolve(state.node, self._signatures[tool.name], self._facts)
                check_call(self.run, state.node, tool, call)
            except ToolError as error:
                self._fail_before_start(state, error)
                continue
            paid = next((key for key in call.keys if key in self.run.paid), None) if self.run.paid else None
            if paid is not None:
                self._reuse(node_id, self.run.paid[paid])
                self._skip_all(self._schedule.finish(node_id), DEPENDENCY_FAILED)
            elif not self._flights.has_room_for(call):
                return
            else:
                self._start(state, tool, call, is_high_pressure=is_high_pressure)

    def _start(self, state: NodeState, tool: ToolSpec, call: Call, *, is_high_pressure: bool) -> None:
        """Start a node, or skip it when its model tokens do not fit in the budget."""
        node_id = state.node.id
        granted = self._grant(node_id, tool, is_high_pressure=is_high_pressure)
        if granted is None:
            self.run.refusal = DOES_NOT_FIT
            self._skip_all((node_id,), BUDGET_EXHAUSTED)
            self._skip_all(self._schedule.skip(node_id), DEPENDENCY_FAILED)
            return
        self._held.hand_over(node_id)
        start = launch_agent if is_agent(self.run, tool) else launch
        flight = start(self.run, state, tool, call=call, granted=granted, card=self._card)
        self._flights.add(flight)
        self._schedule.start(node_id)
        self.run.move(state, NodeStatus.RUNNING)
        state.error, state.error_code = None, None
        agent = f"works in {flight.workflow_id}" if flight.workflow_id else None
        self.run.emit(TraceKind.NODE_START, state.status, node=state, message=agent, data={"tool": tool.name})

    def _grant(self, node_id: str, tool: ToolSpec, *, is_high_pressure: bool) -> Grant | None:
        held, budget = self._held.of(node_id), self.run.budget
        if is_agent(self.run, tool):
            waiting = [self._tools[each.tool] for each in self._nodes.values() if self._is_open(each.id)]
            return agent_grant(held, waiting, budget=budget, card=self._card)
        return grant(tool, held, budget=budget, card=self._card, is_high_pressure=is_high_pressure)

    def _is_open(self, node_id: str) -> bool:
        return self._schedule.status[node_id] is NodeStatus.PENDING

    def _fail_before_start(self, state: NodeState, error: ToolError) -> None:
        self._held.release(state.node.id)
        fail(self.run, state, error.code, error.message)
        self._skip_all(self._schedule.fail(state.node.id), DEPENDENCY_FAILED)

    def _reuse(self, node_id: str, result: Result) -> None:
        self._held.release(node_id)
        self.run.results[node_id] = result
        reuse(self.run, self.run.nodes[node_id])

    # Settling

    def _settle_ended(self, stopped: str | None = None) -> None:
        for flight in self._flights.take_ended():
            self._settle(flight, stopped)
            self._settled += 1
            flight.span.end(flight.state)
        self.run.note_pressure()

    def _settle(self, flight: Flight, stopped: str | None) -> None:
        node_id, failure = flight.state.node.id, failure_of(flight.handle, granted_tries=flight.grant.tries)
        if failure is None:
            settle_done(self.run, flight, flight.handle.result())
            skipped = self._schedule.finish(node_id)
        else:
            settle_failed(self.run, flight, failure, stopped)
            self.run.note_agent_writes(flight.state, failure.written)
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
            self._held.release(node_id)
            skip(self.run, self.run.nodes[node_id], reason)
