from decimal import Decimal
from typing import Any

import pytest

from activities.model.client import OpenAIModel
from activities.model.completion import estimate_prompt
from activities.model.price_file import ModelPrice
from activities.model.request import ModelError
from activities.settings import WorkerSettings
from harness.usage import Usage
from tests.activities.model.asking import KEY, request_for
from tests.scripted_model import Reply, ScriptedServer, completion

PRICE = ModelPrice(
    input_usd_per_million=Decimal(1), output_usd_per_million=Decimal(10), cached_input_usd_per_million=Decimal("0.1")
)
NINE_THREE = (9, 3, 0, 0, False)


async def usage_of(body: Any) -> Usage:
    settings = {"model": "small", "prices": {"small": PRICE}}
    async with ScriptedServer(Reply(body=body)) as server:
        model = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url, **settings))
        try:
            return (await model.ask(request_for())).usage
        except ModelError as error:
            return error.usage
        finally:
            await model.close()


def _counted(usage: Usage) -> tuple[int, int, int, int, bool]:
    return usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens, usage.estimated


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        pytest.param({"usage": {"prompt_tokens": 9, "completion_tokens": 3}}, NINE_THREE, id="OpenAI"),
        pytest.param({"usage": {"input_tokens": 9, "output_tokens": 3}}, NINE_THREE, id="Responses, Anthropic"),
        pytest.param({"usage": {"promptTokens": 9, "completionTokens": 3}}, NINE_THREE, id="camel case"),
        pytest.param({"usage": {"inputTokens": 9, "outputTokens": 3}}, NINE_THREE, id="Bedrock"),
        pytest.param({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}, NINE_THREE, id="Gemini"),
        pytest.param({"prompt_eval_count": 9, "eval_count": 3}, NINE_THREE, id="Ollama"),
        pytest.param({"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 3}}}, NINE_THREE, id="Groq"),
        pytest.param({"usage": None, "prompt_eval_count": 9, "eval_count": 3}, NINE_THREE, id="null beside others"),
        pytest.param(
            {"usage": {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": None}},
            NINE_THREE,
            id="null details",
        ),
        pytest.param(
            {
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 3,
                    "total_tokens": 12,
                    "prompt_tokens_details": {"cached_tokens": 4},
                    "completion_tokens_details": {"reasoning_tokens": 2},
                }
            },
            (9, 3, 4, 2, False),
            id="details",
        ),
        pytest.param(
            {"usage": {"prompt_tokens": 9, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}},
            (9, 3, 4, 0, False),
            id="DeepSeek's cache",
        ),
        pytest.param(
            {
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 3,
                    "total_tokens": 32,
                    "completion_tokens_details": {"reasoning_tokens": 20},
                }
            },
            (9, 23, 0, 20, False),
            id="reasoning beside the output",
        ),
    ],
)
async def test_counts_are_read_under_any_name(body: dict[str, Any], counts: tuple[int, ...]) -> None:
    assert _counted(await usage_of(completion("Hello.", usage="absent") | body)) == counts


async def test_what_is_known_is_kept_beside_what_is_estimated() -> None:
    no_output = await usage_of(completion("Hello there.", usage={"prompt_tokens": 9}))
    no_input = await usage_of(completion("Hello there.", usage={"completion_tokens": 3}))

    assert (no_output.input_tokens, no_output.estimated) == (9, True)
    assert no_output.output_tokens > 3
    assert (no_input.input_tokens, no_input.output_tokens) == (estimate_prompt(request_for()), 3)
    assert no_input.estimated


async def test_an_answer_cut_at_its_limit_is_estimated_at_its_limit() -> None:
    cut = await usage_of(completion(None, finish="length", usage="absent"))

    assert (cut.output_tokens, cut.estimated) == (request_for().max_output_tokens, True)


async def test_cached_tokens_cost_their_own_price() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}

    cost = (await usage_of(completion("Hello.", usage=usage))).cost_usd

    assert cost == Decimal("0.0004") + Decimal("0.00006") + Decimal("0.001")
