import json
from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import JsonValue, ValidationError

from activities.model.client import OpenAIModel
from activities.model.request import ModelAnswer, ModelRequest
from activities.prompts import unfenced
from activities.settings import WorkerSettings
from activities.toolkit import Tool, describe
from activities.toolkits.games import TOOLKIT
from harness.catalog import ToolRole
from harness.errors import ErrorCode, ToolError
from harness.model_choice import ModelRole
from harness.schema_fit import cannot_fit
from harness.usage import Usage
from tests.activities.offline_run import call

MODEL = OpenAIModel(WorkerSettings())
SOURCES = {
    "genre_facts": "get_genre_facts",
    "genre_reviews": "get_genre_reviews",
    "games": "get_games",
    "prices": "get_prices",
}


def _tool(name: str) -> Tool:
    tool = TOOLKIT.by_name().get(name)
    assert tool is not None
    return tool


async def _summarizer_arguments(preferences: str) -> dict[str, JsonValue]:
    data = {name: await call(_tool(source), {}, model=MODEL) for name, source in SOURCES.items()}
    return {"preferences": preferences, **data}


class RecordingModel:
    """Answers with one text and keeps the request."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        return ModelAnswer(self.text, Usage(model="m", input_tokens=1, output_tokens=1))


def test_the_catalog_has_exactly_the_five_tools() -> None:
    catalog = describe(TOOLKIT, OpenAIModel(WorkerSettings()).cards())

    assert [tool.name for tool in catalog.tools] == [*SOURCES.values(), "summarizer_node"]
    assert all(tool.description.strip() and tool.parameters and tool.result for tool in catalog.tools)
    [final] = [tool for tool in catalog.tools if tool.role is ToolRole.FINAL_SYNTHESIS]
    assert final.name == "summarizer_node"
    assert final.required_parameters == ("preferences", "genre_facts", "genre_reviews", "games", "prices")
    assert (final.timeout, final.max_model_tokens) == (timedelta(seconds=60), 4000)
    facts = catalog.tool("get_genre_facts")
    assert facts is not None
    assert not facts.parameter_schemas


async def test_get_games_gives_the_catalogue() -> None:
    games = await call(_tool("get_games"), {}, model=MODEL)

    assert isinstance(games, list)
    assert games[0] == {
        "title": "Outer Wilds",
        "genre": "Adventure",
        "tags": ["exploration", "mystery", "story", "relaxed"],
        "facts": ["space exploration", "knowledge-based progression", "no combat"],
    }
    assert len(games) == 5


async def test_get_prices_has_outer_wilds_at_24_99_usd() -> None:
    prices = await call(_tool("get_prices"), {}, model=MODEL)

    assert isinstance(prices, list)
    assert {"title": "Outer Wilds", "price": "24.99", "currency": "USD"} in prices


def test_there_is_no_tool_that_was_not_made() -> None:
    assert TOOLKIT.by_name().get("delete_database") is None


@pytest.mark.parametrize(("parameter", "source"), SOURCES.items())
async def test_each_result_fits_its_parameter_by_schema_and_as_json(parameter: str, source: str) -> None:
    final = _tool("summarizer_node")
    schema = {**final.spec.parameter_schemas[parameter], "$defs": final.spec.parameters["$defs"]}

    assert cannot_fit(_tool(source).spec.result, schema) is None
    arguments = await _summarizer_arguments("calm")
    assert final.arguments.model_validate_json(json.dumps(arguments)) is not None


async def test_prices_come_through_the_round_trip_unchanged() -> None:
    arguments = await _summarizer_arguments("calm")

    validated = _tool("summarizer_node").arguments.model_validate_json(json.dumps(arguments))

    assert [row.price for row in validated.prices][:2] == [Decimal("24.99"), Decimal("14.99")]  # type: ignore[attr-defined]


async def test_missing_arguments_are_named() -> None:
    with pytest.raises(ValidationError, match="preferences"):
        await call(_tool("summarizer_node"), {}, model=MODEL)


@pytest.mark.parametrize("preferences", ["", "  \n"])
async def test_blank_preferences_are_refused_by_name(preferences: str) -> None:
    with pytest.raises(ToolError, match="`preferences` is blank") as caught:
        await call(_tool("summarizer_node"), await _summarizer_arguments(preferences), model=MODEL)

    assert caught.value.code is ErrorCode.MISSING_REQUIRED_ARGUMENT


async def test_the_summarizer_asks_the_model_once_with_all_data_in_fences() -> None:
    model = RecordingModel(" Play Hades. ")

    result = await call(_tool("summarizer_node"), await _summarizer_arguments("calm"), model=model)

    assert result == {"report": "Play Hades."}
    [request] = model.requests
    assert request.role is ModelRole.SYNTHESIS
    assert request.answer is None
    assert list(unfenced(request.user)) == ["preferences", *SOURCES]
    assert '"price":"24.99"' in unfenced(request.user)["prices"]


async def test_the_reasons_of_a_rejection_reach_the_model() -> None:
    model = RecordingModel("Play Hades.")

    await call(
        _tool("summarizer_node"), await _summarizer_arguments("calm"), model=model, feedback="the price is wrong"
    )

    assert unfenced(model.requests[0].user)["feedback"] == "the price is wrong"
