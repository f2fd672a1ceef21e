"""The phase PLANNING: reserve the call, have the model draw up a plan, settle what it cost."""

from temporalio import workflow
from temporalio.workflow import ActivityCancellationType, ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from activities.run_activities import RunActivities
    from harness.calls import PlanReply, PlanRequest
    from harness.catalog import Catalog
    from harness.errors import classify
    from harness.grants import Grant, plan_grant, planning_prompt_tokens
    from harness.recovery import FAILURES_KEPT
    from harness.run import RunPhase
    from harness.trace import TraceKind
    from harness.usage import TryRecord

from workflows.activity_options import HEARTBEAT_TIMEOUT, retries, within
from workflows.clock import Clock
from workflows.node_outcome import ActivityFailure, failure_of, total_usage
from workflows.recover import OUT_OF_TIME, exhaust, recover
from workflows.run_state import RunState


async def draw_up_plan(state: RunState, catalog: Catalog, clock: Clock) -> RunPhase:
    """Have the model draw up a plan within what is left of the budget."""
    prompt = planning_prompt_tokens(state.request.goal, catalog, state.failures)
    granted = plan_grant(
        prompt,
        state.request.options.plan_output_tokens,
        budget=state.budget,
        card=catalog.model,
        is_high_pressure=state.is_high_pressure,
    )
    if granted is None:
        why = f"a planning call with about {prompt} prompt tokens does not fit in what is left"
        return exhaust(state, {}, f"budget exhausted before planning: {why}")
    drafted = _start(state, catalog, granted, granted.tokens_per_try - prompt)
    await clock.wait_for(drafted)
    failure = failure_of(drafted, granted_tries=granted.tries)
    if failure is not None:
        return _failed(state, granted, failure)
    return _planned(state, granted, drafted.result())


def _start(state: RunState, catalog: Catalog, granted: Grant, output_tokens: int) -> "ActivityHandle[PlanReply]":
    options = state.request.options
    calls = state.budget.left().tool_calls + len(state.paid)
    return workflow.start_activity_method(
        RunActivities.draft_plan,
        PlanRequest(
            goal=state.request.goal,
            catalog=catalog,
            max_nodes=min(options.max_plan_nodes, calls),
            max_output_tokens=output_tokens,
            max_tokens=granted.tokens_per_try,
            timeout=options.model_timeout,
            failures=tuple(state.failures[-FAILURES_KEPT:]),
        ),
        start_to_close_timeout=within(options.model_timeout),
        heartbeat_timeout=HEARTBEAT_TIMEOUT,
        retry_policy=retries(granted.tries),
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=f"plan · attempt {state.attempt}",
    )


def _planned(state: RunState, granted: Grant, reply: PlanReply) -> RunPhase:
    usage = total_usage(reply.tries, reply.usage)
    state.budget.settle(granted.reserved, tool_calls=0, usage=usage)
    state.plan = reply.plan
    data: dict[str, JsonValue] = {
        "nodes": len(reply.plan.nodes),
        "model": usage.model,
        "tokens": usage.total_tokens,
        "tries": reply.try_number,
        "queue_ms": reply.queue_ms,
        "failedTries": _told(reply.tries),
    }
    state.emit(TraceKind.PLANNING_FINISH, "DONE", latency_ms=reply.latency_ms, message="planning finished", data=data)
    state.note_pressure()
    return RunPhase.VALIDATING


def _failed(state: RunState, granted: Grant, failure: ActivityFailure) -> RunPhase:
    state.budget.settle(granted.reserved, tool_calls=0, usage=failure.usage)
    data: dict[str, JsonValue] = {
        "errorCode": failure.code,
        "tries": failure.tries_made,
        "tokens": failure.usage.total_tokens,
        "failedTries": _told(failure.tries),
    }
    state.emit(TraceKind.PLANNING_FINISH, "FAILED", message=failure.message, data=data)
    state.note_pressure()
    if failure.was_cancelled:
        return exhaust(state, {}, f"budget exhausted while planning: {OUT_OF_TIME}")
    return recover(state, classify(failure.code), failure.message, code=failure.code)


def _told(tries: tuple[TryRecord, ...]) -> list[JsonValue]:
    return [f"try {record.number}: {record.code}: {record.message}" for record in tries]
