"""The phase SUMMARISING: have older steps of an agent loop replaced by a summary, by a model where that is paid for."""

from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from activities.loop.loop_activities import LoopActivities
    from harness.budget import NOTHING
    from harness.grants import PLANNING_TRIES, Grant
    from harness.loop import LoopStatus
    from harness.loop_calls import SummariseReply, SummariseRequest
    from harness.loop_prompt import summary_prompt_tokens
    from harness.model_choice import NO_CHOICE
    from harness.trace import TraceKind

from workflows.activity_options import call_options, within
from workflows.clock import Clock
from workflows.limited_queues import queue_of_models
from workflows.loop_charge import charge_done, charge_failed, reserve
from workflows.loop_state import LoopState
from workflows.node_outcome import failure_of
from workflows.run_core import OUT_OF_TIME

SUMMARY_TOKENS = 800
"""Most output tokens of a summary."""
_WITHOUT_MODEL = Grant(tries=PLANNING_TRIES, tokens_per_try=0, reserved=NOTHING)


async def summarise(state: LoopState, clock: Clock) -> None:
    """Have older steps replaced by a summary, and by a record alone when there is no budget for a model to write it.

    When that fails the loop goes on with what fits.
    """
    prompt = summary_prompt_tokens(state.rules)
    granted = None if state.is_high_pressure else reserve(state, prompt, SUMMARY_TOKENS)
    asked = _start(state, granted or _WITHOUT_MODEL, prompt)

    def settle() -> None:
        _settle(state, granted or _WITHOUT_MODEL, asked)

    await clock.wait_for(asked, on_stop=settle)
    settle()


def _start(state: LoopState, granted: Grant, prompt: int) -> "ActivityHandle[SummariseReply]":
    options, step = state.request.options, state.rules.step
    said: dict[str, Any] = {"facts": state.facts}
    queue = state.activity_queue
    if granted is not _WITHOUT_MODEL:
        said |= {
            "max_output_tokens": granted.tokens_per_try - prompt,
            "max_tokens": granted.tokens_per_try,
            "models": None if options.models == NO_CHOICE else options.models,
        }
        queue = queue_of_models(state)
    request = SummariseRequest.model_validate(
        {
            "frame": state.frame,
            "conversation": state.conversation,
            "soft_tokens": options.loop.soft_context_tokens,
            "timeout": options.model_timeout,
            **{name: value for name, value in said.items() if value},
        }
    )
    what = f"summary before step {step}"
    return workflow.start_activity_method(
        LoopActivities.summarise_steps,
        request,
        activity_id=f"summary@{step}",
        **call_options(within(options.model_timeout), tries=granted.tries, queue=queue, summary=what),
    )


def _settle(state: LoopState, granted: Grant, asked: "ActivityHandle[SummariseReply]") -> None:
    failure = failure_of(asked, granted_tries=granted.tries)
    if failure is None:
        _take(state, granted, asked.result())
        return
    data = charge_failed(state, granted, failure)
    state.note_failure(failure)
    state.emit(TraceKind.CONTEXT_SUMMARISE, "FAILED", message=failure.message, data=data)
    state.note_pressure()
    if failure.was_cancelled:
        state.rules.refuse(LoopStatus.TIMEOUT, OUT_OF_TIME)
    else:
        state.rules.summary_failed(failure.code, failure.message)


def _take(state: LoopState, granted: Grant, reply: SummariseReply) -> None:
    usage = charge_done(state, granted, reply)
    state.conversation = reply.conversation
    data: dict[str, JsonValue] = {
        "steps": reply.summarised,
        "context_tokens": reply.context_tokens,
        "tokens": usage.total_tokens,
    }
    how = "by a record alone, to save" if granted is _WITHOUT_MODEL else ""
    message = f"{reply.summarised} steps are summarised {how}".rstrip()
    state.emit(TraceKind.CONTEXT_SUMMARISE, "DONE", latency_ms=reply.latency_ms, message=message, data=data)
    state.note_guard(reply.guard)
    state.rules.summarised(reply)
    state.note_pressure()
