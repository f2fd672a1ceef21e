import json
from datetime import timedelta

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from activities.model.client import OpenAIModel
from activities.model.offline_writer import OFFLINE_LINE
from activities.model.request import ModelRequest
from activities.prompts import fenced, fenced_json
from activities.settings import WorkerSettings
from harness.model_choice import ModelRole


def _request(user: str) -> ModelRequest:
    return ModelRequest(
        role=ModelRole.SYNTHESIS, system="Write.", user=user, max_output_tokens=1000, timeout=timedelta(seconds=5)
    )


async def test_other_syntheses_get_an_honest_summary_of_their_sources() -> None:
    rows = fenced_json("rows", [{"name": "a", "value": 1}, {"name": "b", "value": 2}, {"name": "c"}, {"name": "d"}])
    user = "\n".join([fenced("goal", "compare"), rows, fenced("note", "plain  text"), fenced("feedback", "too short")])

    answer = await OpenAIModel(WorkerSettings()).ask(_request(user))

    assert answer.text.split("\n") == [
        "Summary for: compare",
        "- rows: 4 entries: name a, value 1; name b, value 2; name c; 1 more",
        "- note: plain text",
        "An earlier report was rejected: too short",
        f"{OFFLINE_LINE} It lists what it was given and draws no conclusions.",
    ]


async def test_a_summary_is_bounded() -> None:
    user = "\n".join(fenced_json(f"source_{number}", ["x" * 1000] * 100) for number in range(50))

    answer = await OpenAIModel(WorkerSettings()).ask(_request(user))

    assert len(answer.text) < 3000
    assert "and many more sources" in answer.text


async def test_a_prompt_without_sources_says_that_there_were_none() -> None:
    answer = await OpenAIModel(WorkerSettings()).ask(_request("Tell me something."))

    assert "No source was given." in answer.text


async def test_unreadable_games_are_admitted() -> None:
    user = "\n".join([fenced("preferences", "calm"), fenced("games", "[{"), fenced("prices", json.dumps([]))])

    answer = await OpenAIModel(WorkerSettings()).ask(_request(user))

    assert answer.text.startswith("Nothing fits: the data in the prompt holds no game that could be read.")


async def test_a_game_without_a_price_fits_no_limit() -> None:
    games = fenced_json("games", [{"title": "A", "genre": "X", "tags": [], "facts": []}, {"no": "title"}])
    user = "\n".join([fenced("preferences", "under 5 USD"), games, fenced_json("prices", [])])

    answer = await OpenAIModel(WorkerSettings()).ask(_request(user))

    assert "- A (X, price not given), but its price is not given." in answer.text


async def test_costs_nothing_and_counts_tokens() -> None:
    answer = await OpenAIModel(WorkerSettings()).ask(_request("Tell me something."))

    assert answer.usage.model == "offline"
    assert answer.usage.cost_usd == 0
    assert not answer.usage.estimated
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


async def test_its_spans_name_it_as_provider() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    await OpenAIModel(WorkerSettings(), tracer_provider=provider).ask(_request("Tell me something."))

    [span] = exporter.get_finished_spans()
    assert span.name == "chat offline"
    assert (span.attributes or {})["gen_ai.provider.name"] == "whippletree.offline"
