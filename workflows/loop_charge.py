"""What a model call of an agent loop costs: reserved before it starts, settled when it has ended, however it did."""

from typing import Protocol

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.grants import Grant, plan_grant, usage_of_lost
    from harness.usage import TryRecord, Usage

from workflows.loop_state import LoopState
from workflows.node_outcome import ActivityFailure, total_usage, tries_told


class Billed(Protocol):
    """What a reply says of its cost."""

    @property
    def usage(self) -> Usage:
        """Return what the try that gave the reply has used."""

    @property
    def tries(self) -> tuple[TryRecord, ...]:
        """Return the recorded tries before it."""

    @property
    def try_number(self) -> int:
        """Return its number, from 1."""


def reserve(state: LoopState, prompt: int, output: int) -> Grant | None:
    """Reserve a call with so many prompt and at most so many output tokens; None when not even one try fits."""
    return plan_grant(prompt, output, budget=state.budget, card=state.card, is_high_pressure=state.is_high_pressure)


def charge_done(state: LoopState, granted: Grant, reply: Billed) -> Usage:
    """Charge every try of a call that has its reply; return what they used together."""
    lost = usage_of_lost(granted, reply.try_number - 1 - len(reply.tries), state.card)
    return _settle(state, granted, total_usage(reply.tries, reply.usage).plus(lost))


def charge_failed(state: LoopState, granted: Grant, failure: ActivityFailure) -> dict[str, JsonValue]:
    """Charge every try of a call that has none, those that nobody knows of by estimate; return what the trace says."""
    lost = usage_of_lost(granted, failure.tries_made - len(failure.tries), state.card)
    usage = _settle(state, granted, failure.usage.plus(lost))
    return {
        "errorCode": failure.code,
        "tries": failure.tries_made,
        "tokens": usage.total_tokens,
        "failed_tries": tries_told(failure.tries, made=failure.tries_made),
    }


def _settle(state: LoopState, granted: Grant, usage: Usage) -> Usage:
    state.budget.settle(granted.reserved, tool_calls=0, usage=usage)
    state.usage = state.usage.plus(usage)
    return usage
