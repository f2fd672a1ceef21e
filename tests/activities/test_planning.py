from datetime import timedelta

import pytest

from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.planning import draft_plan
from activities.toolkits.games import TOOLKIT
from harness.errors import ErrorCode
from harness.model_choice import ModelRole
from harness.plan import Plan
from harness.usage import Usage
from tests.activities.offline_run import plan_request
from tests.builders import node, plan

USAGE = Usage(model="m", input_tokens=5, output_tokens=3)
TIMEOUT = timedelta(seconds=9)


class FakeModel:
    """Answers with one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return ModelAnswer(self.text, USAGE)


async def test_returns_the_plan_and_what_it_cost() -> None:
    wanted = plan(node("report", "summarizer_node"))
    model = FakeModel(f"```json\n{wanted.model_dump_json()}\n```")

    drafted = await draft_plan(model, plan_request(TOOLKIT, "a calm game"), TIMEOUT)

    assert (drafted.plan, drafted.answer.usage, drafted.is_repaired) == (wanted, USAGE, False)
    [request] = model.requests
    assert (request.role, request.answer, request.timeout) == (ModelRole.PLANNER, Plan, TIMEOUT)
    assert request.max_output_tokens == 4000
    assert request.goal == "a calm game"


async def test_an_answer_that_is_no_plan_is_paid_for_too() -> None:
    with pytest.raises(ModelError, match=r"nodes\.0\.tool: Field required") as caught:
        await draft_plan(FakeModel('{"nodes": [{"id": "a"}]}'), plan_request(TOOLKIT, "a calm game"), TIMEOUT)

    assert caught.value.code is ErrorCode.INVALID_OUTPUT
    assert caught.value.usage == USAGE
