"""What the reply of a step tells: the model's turn, what it cost, and what the guardrails say of it."""

from activities.guardrails.chain import GuardedModel
from activities.loop.steps import Step
from harness.guardrail import MAX_FLAGS, Guardrail, GuardReport
from harness.usage import Usage


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


def _report(step: Step, model: GuardedModel) -> GuardReport | None:
    """Return what the guardrails say, the grounding of an answer included."""
    if step.turn.answer is None:
        return model.report
    report = model.report or GuardReport()
    ran = tuple(guardrail for guardrail in Guardrail if guardrail in {*report.ran, Guardrail.GROUNDING})
    figures = {"ungrounded": step.ungrounded[:MAX_FLAGS]} if step.ungrounded else {}
    return report.model_copy(update={"ran": ran, **figures})
