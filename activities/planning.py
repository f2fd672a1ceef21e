"""Planning: ask a model for a plan and read its answer."""

from dataclasses import dataclass
from datetime import timedelta

from activities.answers import read_answer
from activities.model.request import Model, ModelAnswer, ModelRequest
from activities.prompts import planning_prompt
from harness.calls import PlanRequest
from harness.model_choice import ModelRole
from harness.plan import Plan


@dataclass(frozen=True)
class DraftedPlan:
    """A plan that has the right shape, not yet validated against the catalog, and the answer that it comes from."""

    plan: Plan
    answer: ModelAnswer
    is_repaired: bool = False
    """True when the answer was no JSON until its syntax was repaired."""


async def draft_plan(model: Model, request: PlanRequest, timeout: timedelta) -> DraftedPlan:  # noqa: ASYNC109 - sent on
    """Ask for a plan.

    Raises:
        ModelError: when the call failed, or when its answer is no plan; its usage is then that of the answer.
    """
    prompt = planning_prompt(request)
    answer = await model.ask(
        ModelRequest(
            role=ModelRole.PLANNER,
            system=prompt.system,
            user=prompt.user,
            max_output_tokens=request.max_output_tokens,
            timeout=timeout,
            answer=Plan,
            goal=request.goal,
        )
    )
    parsed = read_answer(answer, Plan)
    return DraftedPlan(parsed.value, answer, parsed.is_repaired)
