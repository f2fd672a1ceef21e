"""Execution of one plan: start what is ready, settle what has ended, until every node is terminal.

One loop owns everything. Activities run as handles; their ends are queued in the order in which Temporal delivers them,
which replay repeats.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio import workflow
from temporalio.workflow import ActivityCancellationType, ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue, TypeAdapter

    from harness.binding import materialise
    from harness.budget import Amount
    from harness.calls import ToolReply, ToolRequest
    from harness.catalog import Catalog, Effect, ToolRole, ToolSpec
    from harness.errors import ErrorCode, ToolError, bounded
    from harness.grants import Grant, base_reservation, grant, reserve_all
    from harness.plan import Plan
    from harness.reuse import call_key
    from harness.schedule import BUDGET_EXHAUSTED, DEPENDENCY_FAILED, NodeStatus, Schedule
    from harness.trace import TraceKind
    from harness.usage import TryRecord

from workflows.activity_options import HEARTBEAT_TIMEOUT, retries, within
from workflows.node_outcome import ActivityFailure, failure_of, total_usage
from workflows.run_state import NodeState, RunState
from workflows.spans import NodeSpan

MAX_ARGUMENT_BYTES = 1_048_576
"""Largest encoded arguments of one node."""
MAX_BYTES_IN_FLIGHT = 3_000_000
"""Arguments of all nodes in flight: over 4 MiB of commands in one task the server terminates the run."""

_ARGUMENTS = TypeAdapter(dict[str, JsonValue])


class StalledError(Exception):
    """Nodes are pending though none is ready or running."""


@dataclass
class _Flight:
    """A node whose activity has not ended."""

    state: NodeState
    tool: ToolSpec
    handle: "ActivityHandle[ToolReply]"
    grant: Grant
    argument_bytes: int
    key: str | None
    span: NodeSpan


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
    was_refused: bool = False
    """True once work did not fit in the budget or the time was over."""
    _held: dict[str, Amount] = field(default_factory=dict)
    _flights: dict[str, _Flight] = field(default_factory=dict)
    _ended: deque[str] = field(default_factory=deque)
    _schedule: Schedule = field(init=False)

    def __post_init__(self) -> None:
        """Take every node of the plan as PENDING."""
        self._tools: dict[str, ToolSpec] = {tool.name: tool for tool in self.catalog.tools}
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
                self._reuse(self.run.nodes[node_id], results[node_id])

    async def execute(self) -> None:
        """Run every node that is not DONE until all are terminal or the time is over."""
        self._schedule = Schedule.of(self.plan, done=self.results)
        for node_id, status in self._schedule.status.items():
            self.run.nodes[node_id].status = status
        if not self._reserve_all():
            self._skip_everything()
            return
        while not self._schedule.is_finished and not self.must_stop():
            self._start_ready()
            if self._schedule.is_stalled:
                msg = f"{self.unfinished} nodes are pending though none is ready or running"
                raise StalledError(msg)
            await workflow.wait_condition(lambda: bool(self._ended) or self._schedule.is_finished or self.must_stop())
            self._settle_ended()
        if not self._schedule.is_finished:
            self.was_refused = True
            await self.stop("the wall-clock limit is reached")

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
        budget, card = self.run.budget, self.catalog.model
        self._held = {
            node_id: base_reservation(
                self._tools[node.tool],
                synthesis_tokens=self.run.request.options.synthesis_tokens,
                card=card,
                budget=budget,
            )
            for node_id, node in self._nodes.items()
            if node_id not in self.results
        }
        if reserve_all(budget, self._held.values()):
            return True
        self._held = {}
        return False

    def _skip_everything(self) -> None:
        self.was_refused = True
        self._skip_rest(BUDGET_EXHAUSTED)

    def _skip_rest(self, reason: str) -> None:
        for node_id in self._nodes:
            if not self._schedule.status[node_id].is_terminal:
                self._release(node_id)
                self._skipped(node_id, reason)
                for dependent in self._schedule.skip(node_id):
                    self._release(dependent)
                    self._skipped(dependent, DEPENDENCY_FAILED)

    def _start_ready(self) -> None:
        limit = self.run.request.options.max_concurrency
        while len(self._flights) < limit and (node_id := self._schedule.peek_ready()) is not None:
            if not self._start(node_id):
                return

    def _start(self, node_id: str) -> bool:
        """Start, reuse, fail or skip a ready node; return False when it must wait for room on the wire."""
        state, tool = self.run.nodes[node_id], self._tools[self._nodes[node_id].tool]
        try:
            arguments = materialise(state.node, tool, self.results)
            size = _checked_size(node_id, arguments)
        except ToolError as error:
            self._schedule.start(node_id)
            self._release(node_id)
            self._fail(state, error.code, error.message, NodeStatus.FAILED)
            return True
        key = call_key(state.node, self.catalog, self.results)
        if key is not None and key in self.run.paid:
            self._release(node_id)
            self._reuse(state, self.run.paid[key])
            self._propagate(self._schedule.finish(node_id))
            return True
        if self._flights and size + sum(f.argument_bytes for f in self._flights.values()) > MAX_BYTES_IN_FLIGHT:
            return False
        granted = self._grant(node_id, tool)
        if granted is None:
            self.was_refused = True
            self._release(node_id)
            self._skipped(node_id, BUDGET_EXHAUSTED)
            self._propagate(self._schedule.skip(node_id))
            return True
        self._launch(state, tool, arguments, granted, size, key)
        return True

    def _grant(self, node_id: str, tool: ToolSpec) -> Grant | None:
        return grant(
            tool,
            self._held[node_id],
            budget=self.run.budget,
            card=self.catalog.model,
            is_high_pressure=self.run.is_high_pressure,
        )

    def _launch(  # noqa: PLR0917 - what a flight is made of
        self,
        state: NodeState,
        tool: ToolSpec,
        arguments: dict[str, JsonValue],
        granted: Grant,
        size: int,
        key: str | None,
    ) -> None:
        node_id = state.node.id
        self._held.pop(node_id)
        span = NodeSpan.start(self.run, state)
        with span.is_current():
            handle = workflow.start_activity(
                tool.name,
                self._request(tool, arguments, granted),
                result_type=ToolReply,
                activity_id=f"{node_id}@{self.run.attempt}",
                start_to_close_timeout=within(tool.timeout),
                heartbeat_timeout=HEARTBEAT_TIMEOUT,
                retry_policy=retries(granted.tries),
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                summary=f"{node_id} · try {state.tries + 1}",
            )
        handle.add_done_callback(lambda _: self._ended.append(node_id))
        self._flights[node_id] = _Flight(state, tool, handle, granted, size, key, span)
        self._schedule.start(node_id)
        state.status = NodeStatus.RUNNING
        state.error, state.error_code = None, None
        self.run.emit(TraceKind.NODE_START, state.status, node=state, data={"tool": tool.name})
        self.on_change()

    def _request(self, tool: ToolSpec, arguments: dict[str, JsonValue], granted: Grant) -> ToolRequest:
        fields: dict[str, JsonValue] = {"arguments": arguments} if arguments else {}
        if granted.tokens_per_try:
            fields["max_tokens"] = granted.tokens_per_try
        limit = self.run.request.options.max_result_bytes
        if limit != ToolRequest.model_fields["max_result_bytes"].default:
            fields["max_result_bytes"] = limit
        if tool.role is ToolRole.FINAL_SYNTHESIS and self.run.feedback:
            fields["feedback"] = self.run.feedback
        return ToolRequest.model_validate(fields)

    # Settling

    def _settle_ended(self, stopped: str | None = None) -> None:
        while self._ended:
            flight = self._flights.pop(self._ended.popleft())
            failure = failure_of(flight.handle, granted_tries=flight.grant.tries)
            if failure is None:
                self._settle_done(flight, flight.handle.result())
            else:
                self._settle_failed(flight, failure, stopped)
            flight.span.end(flight.state)
            self.run.note_pressure()
            self.on_change()

    def _settle_done(self, flight: _Flight, reply: ToolReply) -> None:
        state = flight.state
        usage = total_usage(reply.tries, reply.usage)
        self.run.budget.settle(flight.grant.reserved, tool_calls=reply.try_number, usage=usage)
        self._retries(flight, reply.tries, upto=reply.try_number)
        state.tries += reply.try_number
        state.usage = state.usage.plus(usage)
        state.latency_ms = reply.latency_ms
        state.status = NodeStatus.DONE
        self.results[state.node.id] = reply.value
        if flight.key is not None:
            self.run.paid[flight.key] = reply.value
        data: dict[str, JsonValue] = {"tool": flight.tool.name, "tries": state.tries, "queue_ms": reply.queue_ms}
        if usage.model:
            data |= {"model": usage.model, "tokens": usage.total_tokens}
        self.run.emit(TraceKind.NODE_FINISH, state.status, node=state, latency_ms=reply.latency_ms, data=data)
        self._propagate(self._schedule.finish(state.node.id))

    def _settle_failed(self, flight: _Flight, failure: ActivityFailure, stopped: str | None) -> None:
        state = flight.state
        self.run.budget.settle(flight.grant.reserved, tool_calls=failure.tries_made, usage=failure.usage)
        self._retries(flight, failure.tries, upto=failure.tries_made if failure.is_exact else 0)
        state.tries += failure.tries_made
        state.usage = state.usage.plus(failure.usage)
        state.latency_ms = failure.tries[-1].latency_ms if failure.tries else None
        if stopped is not None and failure.was_cancelled:
            self._fail(state, None, stopped, NodeStatus.CANCELLED)
            return
        code = failure.code
        if flight.tool.effect is Effect.WRITE and failure.code is ErrorCode.TIMEOUT:
            code = ErrorCode.UNCERTAIN_EFFECT
        self._fail(state, code, failure.message, NodeStatus.FAILED)

    def _retries(self, flight: _Flight, tries: tuple[TryRecord, ...], *, upto: int) -> None:
        """Emit one node.retry for each try before the last one, those lost with their worker included."""
        recorded = {record.number: record for record in tries}
        for number in range(1, upto):
            record = recorded.get(number)
            data: dict[str, JsonValue] = {"tool": flight.tool.name, "try": flight.state.tries + number}
            data["errorCode"] = record.code if record else ErrorCode.TIMEOUT
            self.run.emit(
                TraceKind.NODE_RETRY,
                "RETRYING",
                node=flight.state,
                latency_ms=record.latency_ms if record else None,
                message=record.message if record else "the worker was lost",
                data=data,
            )

    def _fail(self, state: NodeState, code: ErrorCode | None, message: str, status: NodeStatus) -> None:
        state.status, state.error, state.error_code = status, bounded(message), code
        data: dict[str, JsonValue] = {"tool": state.node.tool, "tries": state.tries, "errorCode": code}
        self.run.emit(
            TraceKind.NODE_FAIL, status, node=state, latency_ms=state.latency_ms, message=state.error, data=data
        )
        end = self._schedule.cancel if status is NodeStatus.CANCELLED else self._schedule.fail
        self._propagate(end(state.node.id))

    def _propagate(self, skipped: tuple[str, ...]) -> None:
        for node_id in skipped:
            self._release(node_id)
            self._skipped(node_id, DEPENDENCY_FAILED)

    def _skipped(self, node_id: str, reason: str) -> None:
        state = self.run.nodes[node_id]
        state.status, state.error = NodeStatus.SKIPPED, reason
        self.run.emit(TraceKind.NODE_SKIP, state.status, node=state, message=reason, data={"tool": state.node.tool})

    def _reuse(self, state: NodeState, value: JsonValue) -> None:
        state.status, state.reused = NodeStatus.DONE, True
        self.results[state.node.id] = value
        self.run.emit(TraceKind.NODE_REUSE, state.status, node=state, data={"tool": state.node.tool})

    def _release(self, node_id: str) -> None:
        held = self._held.pop(node_id, None)
        if held is not None:
            self.run.budget.release(held)


def _checked_size(node_id: str, arguments: dict[str, JsonValue]) -> int:
    size = len(_ARGUMENTS.dump_json(arguments))
    if size > MAX_ARGUMENT_BYTES:
        raise ToolError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"node {node_id!r}: its arguments have {size:,} bytes, the limit is {MAX_ARGUMENT_BYTES:,}; pass less",
        )
    return size
