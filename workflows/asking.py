"""The phase ASKING: reserve the model call for the next step of an agent loop, make it, settle what it cost."""

from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from activities.loop.loop_activities import LoopActivities
    from harness.grants import Grant
    from harness.loop import LoopStatus
    from harness.loop_calls import StepReply, StepRequest
    from harness.loop_effects import Ask
    from harness.loop_prompt import step_prompt_tokens
    from harness.model_choice import NO_CHOICE
    from harness.trace import TraceKind

from workflows.activity_options import call_options, within
from workflows.clock import Clock
from workflows.limited_queues import queue_of_models
from workflows.loop_charge import charge_done, charge_failed, reserve
from workflows.loop_state import LoopState
from workflows.loop_telling import tell
from workflows.node_outcome import ActivityFailure, failure_of, tries_told
from workflows.run_core import OUT_OF_TIME


async def ask(state: LoopState, clock: Clock, wanted: Ask) -> None:
    """Ask the model for the next step, within what is left of the budget."""
    prompt = step_prompt_tokens(state.rules, wanted)
    granted = reserve(state, prompt, state.request.options.loop.step_output_tokens)
    if granted is None:
        why = f"a step with about {prompt:,} prompt tokens does not fit in what is left; give the loop more of them"
        state.rules.refuse(LoopStatus.BUDGET_EXHAUSTED, why)
        return
    asked = _start(state, wanted, granted, granted.tokens_per_try - prompt)

    def settle() -> None:
        _settle(state, wanted, granted, asked)

    await clock.wait_for(asked, on_stop=settle)
    settle()


def _start(state: LoopState, wanted: Ask, granted: Grant, output_tokens: int) -> "ActivityHandle[StepReply]":
    options = state.request.options
    said: dict[str, Any] = {
        "conversation": state.conversation,
        "facts": state.facts,
        "results": wanted.results,
        "notes": wanted.notes,
        "must_answer": wanted.must_answer,
        "models": None if options.models == NO_CHOICE else options.models,
    }
    request = StepRequest.model_validate(
        {
            "frame": state.frame,
            "step": wanted.step,
            "soft_tokens": options.loop.soft_context_tokens,
            "hard_tokens": options.loop.hard_context_tokens,
            "max_output_tokens": output_tokens,
            "max_tokens": granted.tokens_per_try,
            "timeout": options.model_timeout,
            **{name: value for name, value in said.items() if value},
        }
    )
    what = "answer now" if wanted.must_answer else f"step {wanted.step}"
    return workflow.start_activity_method(
        LoopActivities.take_step,
        request,
        activity_id=f"step@{wanted.step}",
        **call_options(within(options.model_timeout), tries=granted.tries, queue=queue_of_models(state), summary=what),
    )


def _settle(state: LoopState, wanted: Ask, granted: Grant, asked: "ActivityHandle[StepReply]") -> None:
    failure = failure_of(asked, granted_tries=granted.tries)
    if failure is None:
        _take_step(state, wanted, granted, asked.result())
    else:
        _take_failure(state, wanted, granted, failure)


def _take_step(state: LoopState, wanted: Ask, granted: Grant, reply: StepReply) -> None:
    usage = charge_done(state, granted, reply)
    state.conversation = reply.conversation
    state.answered_by = reply.usage.model or state.answered_by
    data: dict[str, JsonValue] = {
        "step": wanted.step,
        "calls": [f"{call.id} {call.tool}" for call in reply.calls],
        "tokens": usage.total_tokens,
        "context_tokens": reply.context_tokens,
        "tries": reply.try_number,
        "queue_ms": reply.queue_ms,
        "failed_tries": tries_told(reply.tries, made=reply.try_number),
        "model": usage.model,
        **({"answered_by": reply.answered_by} if reply.answered_by else {}),
    }
    message = _what(reply)
    state.emit(TraceKind.STEP_FINISH, "DONE", latency_ms=reply.latency_ms, message=message, data=data)
    state.note_guard(reply.guard)
    if reply.answer is not None:
        state.ungrounded = reply.guard.ungrounded if reply.guard else ()
    if reply.dropped:
        dropped: dict[str, JsonValue] = {"outputs": reply.dropped, "context_tokens": reply.context_tokens}
        state.emit(TraceKind.CONTEXT_TRIM, "DONE", message=f"{reply.dropped} stale outputs dropped", data=dropped)
    tell(state, state.rules.answered(reply, is_high_pressure=state.is_high_pressure))
    state.note_pressure()


def _what(reply: StepReply) -> str:
    if reply.calls:
        return f"wants {', '.join(call.tool for call in reply.calls[:5])}"
    return "answers" if reply.answer is not None else f"unusable: {reply.problem}"


def _take_failure(state: LoopState, wanted: Ask, granted: Grant, failure: ActivityFailure) -> None:
    data: dict[str, JsonValue] = {"step": wanted.step, **charge_failed(state, granted, failure)}
    state.note_failure(failure)
    state.emit(TraceKind.STEP_FINISH, "FAILED", message=failure.message, data=data)
    state.note_pressure()
    if failure.was_cancelled:
        state.rules.refuse(LoopStatus.TIMEOUT, OUT_OF_TIME)
    else:
        tell(state, state.rules.model_failed(failure.code, failure.message))
