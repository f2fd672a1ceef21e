import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from activities.model.bounded import BoundedModel
from activities.model.completion import estimate_prompt
from activities.model.request import Message, ModelAnswer, ModelCall, ModelError, ModelRequest, ToolOffer
from harness.errors import ErrorCode
from harness.model_choice import ModelRole
from harness.usage import Usage

REQUEST = ModelRequest(
    role=ModelRole.SYNTHESIS, system="", user="x" * 400, max_output_tokens=1000, timeout=timedelta(seconds=1)
)
PROMPT = estimate_prompt(REQUEST)


class FakeModel:
    """Uses what it is told to use."""

    def __init__(self, *outcomes: ModelAnswer | ModelError) -> None:
        self.outcomes = list(outcomes)
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        await asyncio.sleep(0)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome


def _answer(tokens: int) -> ModelAnswer:
    return ModelAnswer("text", Usage(model="m", input_tokens=tokens, output_tokens=0))


async def test_lowers_the_output_to_what_is_left_of_the_grant() -> None:
    model = FakeModel(_answer(300), _answer(10))
    bounded = BoundedModel(model, 700)

    await bounded.ask(REQUEST)
    await bounded.ask(REQUEST)

    assert [request.max_output_tokens for request in model.requests] == [700 - PROMPT, 400 - PROMPT]


async def test_never_raises_the_output() -> None:
    model = FakeModel(_answer(1))

    await BoundedModel(model, 100_000).ask(REQUEST)

    assert model.requests[0].max_output_tokens == 1000


async def test_refuses_a_prompt_that_does_not_fit_without_asking() -> None:
    model = FakeModel()

    with pytest.raises(ModelError, match=f"about {PROMPT} tokens.*50 of the 50 tokens granted") as caught:
        await BoundedModel(model, 50).ask(REQUEST)

    assert caught.value.code is ErrorCode.CONTEXT_OVERFLOW
    assert not model.requests


async def test_sums_the_usage_of_all_calls_failed_ones_included() -> None:
    failed = ModelError(ErrorCode.OUTPUT_TRUNCATED, "cut", usage=Usage(model="m", input_tokens=5, output_tokens=50))
    bounded = BoundedModel(FakeModel(_answer(20), failed), 10_000)

    await bounded.ask(REQUEST)
    with pytest.raises(ModelError):
        await bounded.ask(REQUEST)

    assert bounded.usage.total_tokens == 75


async def test_calls_at_the_same_time_share_the_grant() -> None:
    model = FakeModel(_answer(1), _answer(1))
    bounded = BoundedModel(model, 1500)

    await asyncio.gather(bounded.ask(REQUEST), bounded.ask(REQUEST))

    first, second = (request.max_output_tokens for request in model.requests)
    assert first + second + 2 * PROMPT <= 1500


@pytest.mark.parametrize(
    "grown",
    [
        replace(REQUEST, messages=(Message("tool", "x" * 4000, call_id="c1"),)),
        replace(REQUEST, messages=(Message("assistant", "", (ModelCall("c1", "search", "x" * 4000),)),)),
        replace(REQUEST, tools=(ToolOffer("search", "x" * 4000, {}),)),
    ],
    ids=["results", "calls", "tools"],
)
async def test_a_conversation_and_its_tools_count_for_the_grant(grown: ModelRequest) -> None:
    model = FakeModel()

    with pytest.raises(ModelError) as caught:
        await BoundedModel(model, max_tokens=PROMPT + 1000).ask(grown)

    assert caught.value.code is ErrorCode.CONTEXT_OVERFLOW
    assert model.requests == []
