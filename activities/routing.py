"""Routing: ask a model which of many tools suit a goal, and read its answer."""

from activities.answers import read_answer
from activities.model.request import Model, ModelRequest
from activities.routing_prompt import routing_prompt
from harness.calls import RouteRequest
from harness.model_choice import ModelRole
from harness.routed_catalog import MAX_NAMES_READ, ToolPick


async def pick_tools(model: Model, request: RouteRequest) -> tuple[str, ...]:
    """Return the names that a model picks, as it wrote them, the first ones when it wrote very many.

    Raises:
        ModelError: when the call failed, or when its answer is no list of names; its usage is then that of the answer.
    """
    prompt = routing_prompt(request)
    answer = await model.ask(
        ModelRequest(
            role=ModelRole.PLANNER,
            system=prompt.system,
            user=prompt.user,
            max_output_tokens=request.max_output_tokens,
            timeout=request.timeout,
            answer=ToolPick,
            goal=request.goal,
        )
    )
    return read_answer(answer, ToolPick).value.tools[:MAX_NAMES_READ]
