"""How a run goes on in its next workflow run: what is large is kept as pages, what is small is carried."""

from collections.abc import Callable
from itertools import takewhile

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from activities.state_pages import StateActivities
    from harness.artifact import Result, StoredResult
    from harness.calls import KeepReply, KeepRequest, LoadReply, LoadRequest
    from harness.carry import INLINE_CARRY_BYTES, MAX_FAILURES_BYTES, MAX_IDS_BYTES, Carry, RunInput
    from harness.catalog import ToolRole
    from harness.message_fit import fit_attempts
    from harness.plan import read_plan
    from harness.progress import StatePage
    from harness.recovery import FAILURES_KEPT
    from harness.run import FAILED_STATUS, RunPhase
    from harness.trace import TraceKind
    from harness.trace_log import Trace
    from harness.wire_size import Room, encoded_size

from workflows.activity_options import SHORT, STORE_LIMIT, STORE_TRIES, CallOptions, call_options
from workflows.clock import Clock
from workflows.node_outcome import failure_of
from workflows.node_state import NodeState
from workflows.run_core import MESSAGE_IDS_KEPT, RunCore
from workflows.run_state import RunState

MOST_EVENTS = 40_000
"""Temporal terminates a workflow run at 51,200 events: so far a plan may go on that cannot be handed over."""
PATIENCE_EVENTS = 2000
"""Events after which the store is asked again."""


async def hand_over(state: RunState, clock: Clock, *, is_executing: bool) -> StatePage | None:
    """Keep what is large as pages.

    Returns:
        What is small enough to be carried as it is; an empty page when pages hold it all; None when it could not be
        kept: then a plan goes on where it is for a while, and a run that was about to replan has its ending.
    """
    if not is_executing:
        state.pages = []
    page = _page_of(state, is_executing=is_executing)
    if not state.pages and _is_small(page, state):
        return page
    events = Trace(state.trace)
    kept = _start_keeping(
        state,
        KeepRequest(
            state=page.model_dump_json(exclude_unset=True),
            trace=events.json.decode(),
            events=len(events),
            whole=_final_of(state),
        ),
    )
    await clock.wait_for(kept, may_overrun=True)
    failure = failure_of(kept, granted_tries=STORE_TRIES)
    if failure is not None:
        if is_executing and workflow.info().get_current_history_length() < MOST_EVENTS:
            state.stays_until = workflow.info().get_current_history_length() + PATIENCE_EVENTS
            state.emit(TraceKind.RUN_CONTINUE, "FAILED", message=f"the plan goes on here: {failure.message}")
        else:
            message = f"the state of the run could not be kept: {failure.message}"
            state.end(FAILED_STATUS[state.phase], error=message, error_code=failure.code)
        return None
    reply = kept.result()
    state.pages.append(reply.state)
    if reply.trace is not None:
        state.trace_pages.append(reply.trace)
    state.trace = state.trace[len(events) :]  # Others may have come while these were being kept.
    return StatePage()


def next_input(state: RunState, page: StatePage, *, is_executing: bool) -> RunInput:
    """Return the input of the next workflow run, with a page that is carried as it is."""
    carry = Carry(
        attempt=state.attempt + (0 if is_executing else 1),
        started_at=state.started_at,
        attempt_started_at=state.attempt_started_at if is_executing else None,
        limits=state.budget.limits,
        ledger=state.budget.ledger,
        retries=state.retries,
        failures=Room(MAX_FAILURES_BYTES).last(state.failures[-FAILURES_KEPT:]),
        state=page if page.model_fields_set else None,
        pages=tuple(state.pages),
        trace=Trace(state.trace),
        trace_pages=tuple(state.trace_pages),
        applied_messages=newest_ids(state),
        pressure_reported=state.pressure_reported,
        feedback=state.feedback,
        is_executing=is_executing,
        refusal=state.refusal if is_executing else None,
    )
    said = {"guardrails": tuple(state.guardrails), "ungrounded": state.ungrounded if is_executing else ()}
    carry = carry.model_copy(update={name: value for name, value in said.items() if value})
    queue = {"activity_queue": state.activity_queue} if state.activity_queue else {}
    return RunInput.model_validate({**state.request.model_dump(exclude_unset=True), **queue, "carry": carry})


async def restore(state: RunState, carry: Carry, *, is_hurried: Callable[[], bool]) -> bool:
    """Take up what an earlier workflow run has left; False when it cannot be had.

    A run that is hurried, by a cancel or its wall clock, waits ten seconds more: without its state, the result would
    have nothing of what was found. When that does not help it has no ending yet, else it has one.
    """
    page = carry.state or StatePage()
    if carry.pages:
        loaded = _start_loading(state, LoadRequest(pages=carry.pages))
        await wait_in_haste(loaded, is_hurried)
        failure = failure_of(loaded, granted_tries=STORE_TRIES)
        if failure is not None and failure.was_cancelled:
            return False
        if failure is not None:
            message = f"the state of the run could not be loaded: {failure.message}"
            phase = RunPhase.EXECUTING if carry.is_executing else RunPhase.PLANNING
            state.end(FAILED_STATUS[phase], error=message, error_code=failure.code)
            return False
        reply = loaded.result()
        page = StatePage.model_validate_json(reply.state).model_copy(update={"plan": reply.plan})
    _take(state, page)
    if not carry.is_executing:
        state.pages = []  # They know nothing of the plan that is to come.
    return True


def newest_ids(state: RunCore) -> tuple[str, ...]:
    """Return the ids of the newest operator messages, as many as are carried."""
    room = Room(MAX_IDS_BYTES)
    kept = takewhile(lambda message_id: room.take(encoded_size(message_id)), reversed(state.applied_messages))
    return tuple(kept)[:MESSAGE_IDS_KEPT][::-1]


async def wait_in_haste(loaded: "ActivityHandle[LoadReply]", is_hurried: Callable[[], bool]) -> None:
    """Wait for an activity; one that is in the way of a run in a hurry gets ten seconds more."""
    await workflow.wait_condition(lambda: loaded.done() or is_hurried())
    if loaded.done():
        return
    try:
        await workflow.wait_condition(loaded.done, timeout=SHORT)
    except TimeoutError:
        loaded.cancel()
        await workflow.wait_condition(loaded.done)


def _page_of(state: RunState, *, is_executing: bool) -> StatePage:
    """Return what the pages so far do not say; all of the state when there are none."""
    page: dict[str, object] = {}
    if not state.pages:
        # Writes of a plan that goes on come back through its nodes: only another attempt may reuse them.
        known = state.paid if is_executing else state.written
        written = {key: StoredResult.of(result) for key, result in state.written.items() if key in known}
        carried = state.paid if is_executing else state.paid | state.earned()
        paid = {key: StoredResult.of(result) for key, result in carried.items() if key not in written}
        page = {"paid": paid, "written": written, "attempts": fit_attempts(tuple(state.attempts))}
        page["agent_writes"] = tuple(state.agent_writes)
        if is_executing:
            plan = state.plan.model_dump_json() if state.plan else ""
            page |= {"catalog": state.catalog, "plan": plan, "planned_by": state.planned_by}
    if is_executing:
        results: dict[str, Result] = state.results
        page["nodes"] = {node_id: state.nodes[node_id].progress(results.get(node_id)) for node_id in state.changed}
    return StatePage.model_validate({name: value for name, value in page.items() if value})


def _final_of(state: RunState) -> tuple[str, ...]:
    return tuple(node_id for node_id, node in state.nodes.items() if node.role is ToolRole.FINAL_SYNTHESIS)


def _is_small(page: StatePage, state: RunState) -> bool:
    room = Room(INLINE_CARRY_BYTES)
    return all(room.take(len(event) + 1) for event in state.trace) and room.take(encoded_size(page))


def _take(state: RunState, page: StatePage) -> None:
    """Fill the state with what earlier workflow runs of the chain have found."""
    state.written = {key: stored.result for key, stored in page.written.items()}
    state.paid = {key: stored.result for key, stored in page.paid.items()} | state.written
    state.attempts = list(page.attempts)
    state.agent_writes = dict.fromkeys(page.agent_writes)
    if page.catalog is None:
        return
    plan = read_plan(page.plan)
    state.catalog, state.plan, state.planned_by = page.catalog, plan, page.planned_by
    tools = {tool.name: tool for tool in page.catalog.tools}
    nodes: dict[str, NodeState] = {}
    for node in plan.nodes:
        known, role = page.nodes.get(node.id), tools[node.tool].role
        nodes[node.id] = NodeState.restored(node, role, known) if known else NodeState(node, role)
        state.agent_writes.update(dict.fromkeys(nodes[node.id].written))
        if known is not None and known.result is not None:
            state.results[node.id] = known.result.result
            state.note_written(tools[node.tool], nodes[node.id])
    state.take_nodes(nodes)
    if not state.pages:
        state.changed = dict.fromkeys(page.nodes)


def _start_keeping(state: RunState, request: KeepRequest) -> "ActivityHandle[KeepReply]":
    how = _options(state, f"page {len(state.pages) + 1} of the state")
    return workflow.start_activity_method(StateActivities.keep_state, request, activity_id="keep_state", **how)


def _start_loading(state: RunState, request: LoadRequest) -> "ActivityHandle[LoadReply]":
    how = _options(state, f"{len(request.pages)} pages of the state")
    return workflow.start_activity_method(StateActivities.load_state, request, activity_id="load_state", **how)


def _options(state: RunState, summary: str) -> CallOptions:
    return call_options(STORE_LIMIT, tries=STORE_TRIES, queue=state.activity_queue, summary=summary)
