"""Routing within the phase PLANNING: of many tools pick those that the planner is shown, by a model or by rule."""

from dataclasses import dataclass, replace

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from activities.run_activities import RunActivities
    from harness.budget import Amount
    from harness.calls import RouteReply, RouteRequest
    from harness.catalog import Catalog
    from harness.grants import LEAST_MODEL_TOKENS, Grant, cost_of, plan_grant, planning_prompt_tokens, usage_of_lost
    from harness.model_choice import NO_CHOICE, ModelRole
    from harness.routed_catalog import (
        OUTPUT_TOKENS,
        Picked,
        Routing,
        decision_data,
        needs_routing,
        picked_by_answer,
        picked_by_rule,
        routed,
        routing_of,
        routing_prompt_tokens,
        shown_to_planner,
        told_failures,
    )
    from harness.trace import TraceKind
    from harness.usage import TryRecord, Usage

from workflows.activity_options import call_options, within
from workflows.clock import Clock
from workflows.limited_queues import queue_of_models
from workflows.node_outcome import failure_of, total_usage, tries_told
from workflows.run_core import RunCore

NO_ROOM = "the tools that refused plans have named take all the room"
NO_BUDGET = "a routing call does not fit in the budget beside the planning, or little of the budget is left"
NO_NAMES = "the answer names no tool that there is to pick"


@dataclass(frozen=True)
class _Called:
    """What came of a routing call."""

    names: tuple[str, ...]
    failure: str
    """Why there are no names; empty when there are some, or the answer was empty."""
    tries: tuple[TryRecord, ...]
    tries_made: int
    usage: Usage
    latency_ms: int | None = None


async def route_tools(state: RunCore, catalog: Catalog, clock: Clock) -> Catalog:
    """Return the catalog cut to what the planner is shown; as it is when the planner may be shown all of it."""
    most = state.request.options.max_tools_shown
    if not needs_routing(catalog, most):
        return catalog
    routing = routing_of(catalog, most, state.failures)
    granted = _granted(state, catalog, routing)
    if granted is None:
        picked = _by_rule(state, routing, NO_BUDGET if routing.room else NO_ROOM)
        return _decided(state, routed(catalog, routing, picked), picked, None)
    asked = _start(state, routing, granted)

    def settle_stopped() -> None:
        _tell_stopped(state, _settled(state, catalog, granted, asked))

    await clock.wait_for(asked, on_stop=settle_stopped)
    called = _settled(state, catalog, granted, asked)
    picked = picked_by_answer(called.names, routing)
    if not picked.names:
        picked = _by_rule(state, routing, called.failure or NO_NAMES, picked.unknown)
    return _decided(state, routed(catalog, routing, picked), picked, called)


def _by_rule(state: RunCore, routing: Routing, why: str, unknown: tuple[str, ...] = ()) -> Picked:
    return picked_by_rule(state.request.goal, routing, has_failed=bool(state.failures), why=why, unknown=unknown)


def _granted(state: RunCore, catalog: Catalog, routing: Routing) -> Grant | None:
    """Reserve the call, which is optional: not under high pressure, and not at the cost of the planning itself."""
    if state.is_high_pressure or not routing.room:
        return None
    card, goal = catalog.card_of(ModelRole.PLANNER), state.request.goal
    offered = shown_to_planner(routed(catalog, routing, _by_rule(state, routing, "")))
    tokens = planning_prompt_tokens(goal, offered, state.failures) + LEAST_MODEL_TOKENS
    planning = Amount(tokens=tokens, cost_usd=cost_of(tokens, card))
    if not state.budget.reserve(planning):
        return None
    prompt = routing_prompt_tokens(goal, routing.offers, told_failures(state.failures))
    granted = plan_grant(prompt, OUTPUT_TOKENS, budget=state.budget, card=card, is_high_pressure=False)
    state.budget.release(planning)
    return granted


def _start(state: RunCore, routing: Routing, granted: Grant) -> "ActivityHandle[RouteReply]":
    options = state.request.options
    request = RouteRequest(
        goal=state.request.goal,
        offers=routing.offers,
        most=routing.room,
        max_output_tokens=OUTPUT_TOKENS,
        max_tokens=granted.tokens_per_try,
        timeout=options.model_timeout,
    )
    chosen = {
        "failures": told_failures(state.failures),
        "models": None if options.models == NO_CHOICE else options.models,
    }
    return workflow.start_activity_method(
        RunActivities.route_tools,
        request.model_copy(update={name: value for name, value in chosen.items() if value}),
        **call_options(
            within(options.model_timeout),
            tries=granted.tries,
            queue=queue_of_models(state),
            summary=f"route · attempt {state.attempt} · at most {routing.room} of {len(routing.offers)} tools",
        ),
    )


def _settled(state: RunCore, catalog: Catalog, granted: Grant, asked: "ActivityHandle[RouteReply]") -> _Called:
    """Read what came of the call and settle what it cost, the tries that were lost with a worker included."""
    failure = failure_of(asked, granted_tries=granted.tries)
    if failure is None:
        reply = asked.result()
        state.note_guard(reply.guard)
        usage = total_usage(reply.tries, reply.usage)
        called = _Called(reply.names, "", reply.tries, reply.try_number, usage, reply.latency_ms)
        lost = called.tries_made - len(called.tries) - 1
    else:
        state.note_failure(failure)
        why = f"the routing call failed: {failure.code}: {failure.message}"
        called = _Called((), why, failure.tries, failure.tries_made, failure.usage)
        lost = called.tries_made - len(called.tries)
    usage = called.usage.plus(usage_of_lost(granted, lost, catalog.card_of(ModelRole.PLANNER)))
    state.budget.settle(granted.reserved, tool_calls=0, usage=usage)
    return replace(called, usage=usage)


def _decided(state: RunCore, shown: Catalog, picked: Picked, called: _Called | None) -> Catalog:
    data = decision_data(shown, picked)
    if called is not None:
        data |= _cost_data(called)
    latency_ms = called.latency_ms if called else None
    message = "routing finished" if not picked.why else f"routing finished by rule: {picked.why}"
    state.emit(TraceKind.ROUTING_FINISH, "DONE", latency_ms=latency_ms, message=message, data=data)
    state.note_pressure()
    return shown


def _tell_stopped(state: RunCore, called: _Called) -> None:
    message = called.failure or "the run was stopped before the tools that were picked were used"
    data = _cost_data(called)
    state.emit(TraceKind.ROUTING_FINISH, "STOPPED", latency_ms=called.latency_ms, message=message, data=data)


def _cost_data(called: _Called) -> dict[str, JsonValue]:
    return {
        "model": called.usage.model,
        "tokens": called.usage.total_tokens,
        "tries": called.tries_made,
        "failed_tries": tries_told(called.tries, made=called.tries_made),
    }
