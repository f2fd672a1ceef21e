"""The phase PLANNING: reserve the call, have the model draw up a plan, settle what it cost."""

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from activities.run_activities import RunActivities
    from harness.calls import PlanReply, PlanRequest
    from harness.catalog import Catalog, ModelCard
    from harness.errors import classify
    from harness.grants import Grant, plan_grant, planning_prompt_tokens, usage_of_lost
    from harness.model_choice import NO_CHOICE, ModelRole
    from harness.recovery import FAILURES_KEPT
    from harness.routed_catalog import shown_to_planner
    from harness.run import RunPhase
    from harness.trace import TraceKind

from workflows.activity_options import call_options, within
from workflows.clock import Clock
from workflows.limited_queues import queue_of_models
from workflows.node_outcome import ActivityFailure, failure_of, total_usage, tries_told
from workflows.recover import exhaust, recover
from workflows.routing import route_tools
from workflows.run_core import OUT_OF_TIME
from workflows.run_state import RunState


async def draw_up_plan(state: RunState, catalog: Catalog, clock: Clock) -> RunPhase:
    """Have the model draw up a plan within what is left of the budget, from few tools where there are many."""
    state.catalog = await route_tools(state, catalog, clock)
    if clock.is_over:
        return exhaust(state, {}, f"budget exhausted before planning: {OUT_OF_TIME}")
    offered = shown_to_planner(state.catalog)
    card = offered.card_of(ModelRole.PLANNER)
    prompt = planning_prompt_tokens(state.request.goal, offered, state.failures)
    granted = plan_grant(
        prompt,
        state.request.options.plan_output_tokens,
        budget=state.budget,
        card=card,
        is_high_pressure=state.is_high_pressure,
    )
    if granted is None:
        why = f"a planning call with about {prompt} prompt tokens does not fit in what is left"
        return exhaust(state, {}, f"budget exhausted before planning: {why}")
    drafted = _start(state, offered, granted, granted.tokens_per_try - prompt)

    def settle_stopped() -> None:
        failure = failure_of(drafted, granted_tries=granted.tries)
        if failure is None:
            _planned(state, granted, card, drafted.result())
        else:
            _charge_failed(state, granted, card, failure)

    await clock.wait_for(drafted, on_stop=settle_stopped)
    failure = failure_of(drafted, granted_tries=granted.tries)
    if failure is not None:
        return _failed(state, granted, card, failure)
    return _planned(state, granted, card, drafted.result())


def _start(state: RunState, catalog: Catalog, granted: Grant, output_tokens: int) -> "ActivityHandle[PlanReply]":
    options = state.request.options
    calls = state.budget.calls_left + len(state.paid)
    request = PlanRequest(
        goal=state.request.goal,
        catalog=catalog,
        max_nodes=min(options.max_plan_nodes, calls),
        max_output_tokens=output_tokens,
        max_tokens=granted.tokens_per_try,
        timeout=options.model_timeout,
        failures=tuple(state.failures[-FAILURES_KEPT:]),
    )
    if options.models != NO_CHOICE:
        request = request.model_copy(update={"models": options.models})
    return workflow.start_activity_method(
        RunActivities.draft_plan,
        request,
        **call_options(
            within(options.model_timeout),
            tries=granted.tries,
            queue=queue_of_models(state),
            summary=f"plan · attempt {state.attempt}",
        ),
    )


def _planned(state: RunState, granted: Grant, card: ModelCard, reply: PlanReply) -> RunPhase:
    lost = usage_of_lost(granted, reply.try_number - 1 - len(reply.tries), card)
    usage = total_usage(reply.tries, reply.usage).plus(lost)
    state.budget.settle(granted.reserved, tool_calls=0, usage=usage)
    state.plan, state.planned_by = reply.plan, reply.usage.model
    data: dict[str, JsonValue] = {
        "nodes": len(reply.plan.nodes),
        "model": usage.model,
        "tokens": usage.total_tokens,
        "tries": reply.try_number,
        "queue_ms": reply.queue_ms,
        "failed_tries": tries_told(reply.tries, made=reply.try_number),
        **_about_answer(reply),
    }
    state.emit(TraceKind.PLANNING_FINISH, "DONE", latency_ms=reply.latency_ms, message="planning finished", data=data)
    state.note_guard(reply.guard)
    state.note_pressure()
    return RunPhase.VALIDATING


def _failed(state: RunState, granted: Grant, card: ModelCard, failure: ActivityFailure) -> RunPhase:
    _charge_failed(state, granted, card, failure)
    if failure.was_cancelled:
        return exhaust(state, {}, f"budget exhausted while planning: {OUT_OF_TIME}")
    return recover(state, classify(failure.code), failure.message, code=failure.code)


def _charge_failed(state: RunState, granted: Grant, card: ModelCard, failure: ActivityFailure) -> None:
    usage = failure.usage.plus(usage_of_lost(granted, failure.tries_made - len(failure.tries), card))
    state.budget.settle(granted.reserved, tool_calls=0, usage=usage)
    data: dict[str, JsonValue] = {
        "errorCode": failure.code,
        "tries": failure.tries_made,
        "tokens": usage.total_tokens,
        "failed_tries": tries_told(failure.tries, made=failure.tries_made),
    }
    state.note_failure(failure)
    state.emit(TraceKind.PLANNING_FINISH, "FAILED", message=failure.message, data=data)
    state.note_pressure()


def _about_answer(reply: PlanReply) -> dict[str, JsonValue]:
    """Return what is known of the answer behind a plan."""
    about: dict[str, JsonValue] = {
        "answered_by": reply.answered_by,
        "finish_reason": reply.finish_reason,
        "model_latency_ms": reply.model_latency_ms,
        "repaired": reply.is_repaired,
        "cached_tokens": reply.usage.cached_tokens,
        "reasoning_tokens": reply.usage.reasoning_tokens,
    }
    return {name: value for name, value in about.items() if value}
