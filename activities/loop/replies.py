"""Replies of an agent loop's own activities, with the fields that say something only: history pays for every byte."""

from typing import TypeVar

from activities.guardrails.chain import GuardedModel
from activities.loop.steps import Step
from activities.try_ledger import TryLedger
from harness.calls import Timing
from harness.guardrail import MAX_FLAGS, Guardrail, GuardReport
from harness.usage import Usage

Reply = TypeVar("Reply", bound=Timing)


def reply_of(kind: type[Reply], ledger: TryLedger, **told: object) -> Reply:
    """Return a reply with what is told, and when and how often it was tried."""
    number = {"try_number": ledger.try_number} if ledger.try_number > 1 else {}
    timing = {"latency_ms": ledger.latency_ms, "queue_ms": ledger.queue_ms, "tries": ledger.tries}
    fields = {name: value for name, value in (told | timing).items() if value or name in _SAID_WHEN_ZERO}
    return kind.model_validate(fields | number)


def told_of(step: Step, model: GuardedModel, usage: Usage) -> dict[str, object]:
    """Return the fields of a step's reply."""
    turn, answer = step.turn, step.answer
    return {
        "conversation": step.conversation,
        "calls": turn.calls,
        "answer": turn.answer,
        "problem": turn.problem,
        "context_tokens": step.context_tokens,
        "dropped": step.dropped,
        "guard": _report(step, model),
        "usage": usage,
        "answered_by": answer.model,
    }


_SAID_WHEN_ZERO = frozenset({"prompt_tokens", "context_tokens", "summarised"})
"""Fields without a default in some reply."""


def _report(step: Step, model: GuardedModel) -> GuardReport | None:
    """Return what the guardrails say, the grounding of an answer included."""
    if step.turn.answer is None:
        return model.report
    report = model.report or GuardReport()
    ran = tuple(guardrail for guardrail in Guardrail if guardrail in {*report.ran, Guardrail.GROUNDING})
    figures = {"ungrounded": step.ungrounded[:MAX_FLAGS]} if step.ungrounded else {}
    return report.model_copy(update={"ran": ran, **figures})
