"""How an agent loop goes on in its next workflow run: records and events are kept as pages, the rest is carried."""

from collections.abc import Callable

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import TypeAdapter

    from activities.state_pages import StateActivities
    from harness.agent_state import AgentState
    from harness.artifact import Artifact
    from harness.call_check import CallRules
    from harness.calls import KeepReply, KeepRequest, LoadReply, LoadRequest
    from harness.loop import LoopPhase, LoopStatus, StepPage, StepRecord
    from harness.loop_carry import MAX_RECENT_BYTES, LoopCarry, LoopInput
    from harness.progress import StatePage
    from harness.trace import TraceKind
    from harness.trace_log import Trace
    from harness.wire_size import Room

from workflows.activity_options import STORE_LIMIT, STORE_TRIES, call_options
from workflows.clock import Clock
from workflows.continuing import MOST_EVENTS, PATIENCE_EVENTS, newest_ids, wait_in_haste
from workflows.loop_state import LoopState
from workflows.node_outcome import ActivityFailure, failure_of
from workflows.run_core import OUT_OF_TIME

_STEPS = TypeAdapter(tuple[StepRecord, ...])


async def hand_over(state: LoopState, clock: Clock) -> bool:
    """Keep what is large as pages; False when it could not be kept, so that the loop goes on here, or ends."""
    told = f"{state.rules.steps_made} steps are made; the loop goes on in another workflow run"
    state.emit(TraceKind.RUN_CONTINUE, "STARTED", message=told)
    events, steps = Trace(state.trace), tuple(state.steps)
    page = StatePage(catalog=state.known_catalog) if state.catalog_page is None else StatePage()
    kept = (
        _keep(state, "keep_state", page, events.json.decode(), len(events)),
        _keep(state, "keep_steps", StatePage(), _STEPS.dump_json(steps, exclude_unset=True).decode(), len(steps)),
    )
    await clock.wait_for(*kept, may_overrun=True)
    failure = next(filter(None, (failure_of(handle, granted_tries=STORE_TRIES) for handle in kept)), None)
    if failure is not None:
        _stay(state, failure)
        return False
    of_events, of_steps = (handle.result() for handle in kept)
    state.catalog_page = state.catalog_page or of_events.state
    if of_events.trace is not None:
        state.trace_pages.append(of_events.trace)
    if of_steps.trace is not None:
        state.step_pages.append(StepPage(artifact=of_steps.trace.artifact, steps=of_steps.trace.events))
    state.trace = state.trace[len(events) :]  # Others may have come while these were being kept.
    state.steps = []
    return True


def next_input(state: LoopState, given: LoopInput) -> LoopInput:
    """Return the input of the next workflow run."""
    assert state.frame is not None  # noqa: S101 - a loop that has made a step has one
    assert state.catalog_page is not None  # noqa: S101 - it was kept before
    said = {
        "conversation": state.conversation,
        "facts": state.facts,
        "recent": Room(MAX_RECENT_BYTES).last(state.recent),
        "step_pages": tuple(state.step_pages),
        "trace_pages": tuple(state.trace_pages),
        "trace": Trace(state.trace),
        "applied_messages": newest_ids(state),
        "pressure_reported": state.pressure_reported,
        "has_written": state.has_written,
        "guardrails": tuple(state.guardrails),
        "ungrounded": state.ungrounded,
    }
    carry = LoopCarry.model_validate(
        {
            "started_at": state.started_at,
            "attempt_started_at": state.attempt_started_at,
            "limits": state.budget.limits,
            "ledger": state.budget.ledger,
            "agent": state.rules.carry(),
            "frame": state.frame,
            "catalog": state.catalog_page,
            "usage": state.usage,
            "answered_by": state.answered_by,
            "continued": state.continued + 1,
            **{name: value for name, value in said.items() if value},
        }
    )
    # The data that the loop was given is in its frame, what was written before it in the state of the rules.
    rest = given.model_dump(exclude={"carry", "given", "stored", "written"}, exclude_unset=True)
    return LoopInput.model_validate({**rest, "carry": carry})


async def restore(state: LoopState, carry: LoopCarry, *, is_hurried: Callable[[], bool]) -> None:
    """Take up the catalog and with it the rules; when it cannot be had they end the loop, with what they know."""
    options = state.request.options.loop
    state.agent = AgentState.resume(carry.agent, options, CallRules(()))
    loaded = _load(state, carry.catalog)
    await wait_in_haste(loaded, is_hurried)
    failure = failure_of(loaded, granted_tries=STORE_TRIES)
    if failure is None:
        state.catalog = StatePage.model_validate_json(loaded.result().state).catalog
        state.agent = AgentState.resume(carry.agent, options, state.call_rules)
    elif failure.was_cancelled:
        state.rules.refuse(LoopStatus.TIMEOUT, OUT_OF_TIME)
    else:
        message = f"the state of the loop could not be loaded: {failure.message}"
        state.rules.refuse(LoopStatus.FAILED, message, failure.code)


def _stay(state: LoopState, failure: ActivityFailure) -> None:
    """Go on here for a while; a loop that cannot, because its history is nearly full, ends."""
    length = workflow.info().get_current_history_length()
    if length < MOST_EVENTS:
        state.stays_until = length + PATIENCE_EVENTS
        state.emit(TraceKind.RUN_CONTINUE, "FAILED", message=f"the loop goes on here: {failure.message}")
    else:
        state.rules.refuse(
            LoopStatus.FAILED, f"the state of the loop could not be kept: {failure.message}", failure.code
        )
    state.phase = LoopPhase.ASKING


def _keep(state: LoopState, activity_id: str, page: StatePage, listed: str, count: int) -> "ActivityHandle[KeepReply]":
    request = KeepRequest(state=page.model_dump_json(exclude_unset=True), trace=listed, events=count)
    return workflow.start_activity_method(
        StateActivities.keep_state,
        request,
        activity_id=activity_id,
        **call_options(STORE_LIMIT, tries=STORE_TRIES, queue=state.activity_queue, summary=f"{count} of them"),
    )


def _load(state: LoopState, page: Artifact) -> "ActivityHandle[LoadReply]":
    return workflow.start_activity_method(
        StateActivities.load_state,
        LoadRequest(pages=(page,)),
        activity_id="load_state",
        **call_options(STORE_LIMIT, tries=STORE_TRIES, queue=state.activity_queue, summary="the catalog"),
    )
