"""Recovery: what follows from a failure, and what the next attempt is told about it."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from pydantic import BaseModel, ConfigDict

from harness.catalog import USUAL_BACKOFF, Backoff, Effect
from harness.errors import ErrorClass, ErrorCode, bounded, listed, most_severe

FAILURES_KEPT = 5
"""Earlier attempts that the planner is told about."""
LEAST_WAIT = timedelta(milliseconds=1)
MAX_NODES_TOLD = 50
MAX_SKIPPED_TOLD = 200
MAX_MESSAGE_CHARS = 2000
"""Bound of the message of a failure."""
MAX_NODE_MESSAGE_CHARS = 500
"""Bound of the message of one failed node."""


_AFTER_THE_EFFECT = frozenset(
    {
        ErrorCode.TIMEOUT,
        ErrorCode.PROVIDER_UNAVAILABLE,
        ErrorCode.INVALID_OUTPUT,
        ErrorCode.PAYLOAD_TOO_LARGE,
        ErrorCode.INTERNAL,
    }
)
"""Codes that do not tell whether a call has had its effect."""


class RecoveryAction(StrEnum):
    """What a failure calls for, or what was really done about it."""

    REPLAN = "REPLAN"
    RETRY = "RETRY"
    HALT = "HALT"
    EXHAUST = "EXHAUST"
    """Only as what was done: the remaining work cannot fit in the budget, so the run ends BUDGET_EXHAUSTED."""


class FailedNode(BaseModel):
    """A failed node as the planner is told about it."""

    model_config = ConfigDict(frozen=True)

    id: str
    tool: str
    code: ErrorCode
    message: str


class FailureContext(BaseModel):
    """Why an attempt failed, for the next one."""

    model_config = ConfigDict(frozen=True)

    attempt: int
    phase: str
    error_class: ErrorClass
    message: str
    """Bounded text: the violations, the verdict's reasons, or the planner's error."""
    nodes: tuple[FailedNode, ...] = ()
    nodes_untold: int = 0
    """Failed nodes that are not in `nodes`, because a planner cannot use so many."""
    skipped: tuple[str, ...] = ()
    """Ids of nodes that did not run because of the failure."""
    skipped_untold: int = 0
    """Skipped nodes that are not in `skipped`."""
    wanted: tuple[str, ...] = ()
    """Tools that the plan named though it was not shown them; the next planner is."""


@dataclass(frozen=True)
class Situation:
    """What the decision depends on."""

    error_class: ErrorClass
    can_retry_in_place: bool
    """True in EXECUTING: the plan stands and its unfinished nodes can run again."""
    attempt: int
    max_replans: int
    retries: int
    """Run-level retries made so far in this run."""
    max_retries: int
    calls_needed: int
    """Tool calls that a retry would need at the least."""
    calls_left: int
    has_room: bool
    """True while every limit has something left."""
    is_high_pressure: bool


@dataclass(frozen=True)
class RecoveryDecision:
    """The policy's action, what is really done, and why the two differ when they do."""

    action: RecoveryAction
    outcome: RecoveryAction
    reason: str


def action_for(error_class: ErrorClass) -> RecoveryAction:
    """Return what an error class calls for. Source: harness-demo RecoveryPolicy."""
    match error_class:
        case ErrorClass.VALIDATION | ErrorClass.MISSING_INFO:
            return RecoveryAction.REPLAN
        case ErrorClass.TRANSIENT:
            return RecoveryAction.RETRY
        case ErrorClass.FATAL:
            return RecoveryAction.HALT
        case _:  # pragma: no cover - mypy proves that it cannot happen
            assert_never(error_class)


def code_of_effect(effect: Effect, code: ErrorCode) -> ErrorCode:
    """Return the code of a failed call, seen in the light of what it may have done.

    A WRITE whose answer was lost or useless has perhaps been done: nothing may repeat it but a person's decision.
    """
    return ErrorCode.UNCERTAIN_EFFECT if effect is Effect.WRITE and code in _AFTER_THE_EFFECT else code


def failure_class(classes: tuple[ErrorClass, ...]) -> ErrorClass:
    """Return the class of several failures together.

    The most severe decides, but TRANSIENT beside a class that replans gives that class: a plan that must change anyway
    is not first retried as it is.
    """
    worst = most_severe(classes)
    if worst is not ErrorClass.TRANSIENT:
        return worst
    return most_severe([c for c in classes if c is not ErrorClass.TRANSIENT] or classes)


def decide(situation: Situation) -> RecoveryDecision:
    """Choose what to do about a failure."""
    action = action_for(situation.error_class)
    match action:
        case RecoveryAction.RETRY:
            return _retry(situation)
        case RecoveryAction.REPLAN:
            return _replan(situation, action, f"{situation.error_class} calls for another plan")
        case _:
            return RecoveryDecision(action, RecoveryAction.HALT, f"{situation.error_class} cannot be cured by the run")


def _retry(situation: Situation) -> RecoveryDecision:
    action = RecoveryAction.RETRY
    if not situation.can_retry_in_place:
        return _replan(situation, action, "the tries of the model call are used up")
    if situation.retries >= situation.max_retries:
        return _replan(situation, action, f"{situation.retries} of {situation.max_retries} run-level retries are used")
    if situation.calls_needed > situation.calls_left:
        need, left = situation.calls_needed, situation.calls_left
        return RecoveryDecision(
            action, RecoveryAction.EXHAUST, f"a retry needs {need} more tool calls at the least, {left} are left"
        )
    if not situation.has_room:
        return RecoveryDecision(action, RecoveryAction.EXHAUST, "no budget is left for a retry")
    return RecoveryDecision(action, RecoveryAction.RETRY, "transient failures may pass")


def _replan(situation: Situation, action: RecoveryAction, reason: str) -> RecoveryDecision:
    def halt(why: str) -> RecoveryDecision:
        return RecoveryDecision(action, RecoveryAction.HALT, f"{reason}, but {why}")

    if situation.attempt >= situation.max_replans:
        return halt(f"{situation.attempt} of {situation.max_replans} replans are used")
    if not situation.has_room:
        return halt("no budget is left")
    if situation.is_high_pressure:
        return halt("the budget pressure is high")
    return RecoveryDecision(action, RecoveryAction.REPLAN, reason)


def bounded_failure(context: FailureContext) -> FailureContext:
    """Return what a planner is told of a failure: the first nodes, shortened messages, and how much is left out."""
    nodes = context.nodes[:MAX_NODES_TOLD]
    skipped = context.skipped[:MAX_SKIPPED_TOLD]
    short = [n.model_copy(update={"message": bounded(n.message, MAX_NODE_MESSAGE_CHARS)}) for n in nodes]
    untold = {
        "nodes_untold": context.nodes_untold + len(context.nodes) - len(nodes),
        "skipped_untold": context.skipped_untold + len(context.skipped) - len(skipped),
    }
    return context.model_copy(
        update={
            "message": bounded(context.message, MAX_MESSAGE_CHARS),
            "nodes": tuple(short),
            "skipped": skipped,
            # Only what there is to say: history pays for every field.
            **{name: count for name, count in untold.items() if count},
        }
    )


def backoff(
    try_number: int, *, jitter: float, retry_after_s: float | None = None, waits: Backoff = USUAL_BACKOFF
) -> timedelta:
    """Return the wait after a failed try: the first of `waits` doubling to their limit, a fifth up or down by `jitter`.

    A server's Retry-After is honoured as it is, up to that limit or the usual one, whichever is longer; an absurd one
    (negative, not a number) is ignored. `jitter` is in 0..1.
    """
    if retry_after_s is not None and retry_after_s >= 0:
        longest = max(waits.limit, USUAL_BACKOFF.limit)
        # Temporal takes a wait of nothing for no wish at all.
        return max(timedelta(seconds=min(retry_after_s, longest.total_seconds())), LEAST_WAIT)
    exponent = min(max(try_number, 1) - 1, 16)
    base = min(waits.first * (1 << exponent), waits.limit)
    return max(min(base * (0.8 + 0.4 * jitter), waits.limit), LEAST_WAIT)


def describe_failure(context: FailureContext) -> str:
    """Return a failure as text, one line a fact, for logs, results and the command line."""
    lines = [f"attempt {context.attempt}: {context.phase} failed with {context.error_class}: {context.message}"]
    lines += [f"node={n.id} tool={n.tool} errorCode={n.code} error={bounded(n.message, 500)!r}" for n in context.nodes]
    if context.nodes_untold:
        lines.append(f"and {context.nodes_untold} more failed nodes")
    if context.skipped:
        lines.append(f"skipped: {listed(context.skipped)}")
    if context.skipped_untold:
        lines.append(f"and {context.skipped_untold} more skipped nodes")
    return "\n".join(lines)
