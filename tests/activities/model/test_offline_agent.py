import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import JsonValue, TypeAdapter

from activities.model.client import OpenAIModel
from activities.model.offline_writer import OFFLINE_LINE, write_recommendation
from activities.model.request import Message, ModelAnswer, ModelCall, ModelError, ModelRequest, ToolOffer
from activities.prompts import fenced, fenced_json
from activities.settings import WorkerSettings
from activities.toolkits.games_data import GAMES, GENRE_FACTS, GENRE_REVIEWS, PRICES
from harness.errors import ErrorCode
from harness.grounding import ungrounded
from harness.model_choice import ModelRole

TEXT = {"type": "string"}
Result = JsonValue | ErrorCode


def offer(name: str, description: str = "", **required: object) -> ToolOffer:
    """Return a tool with these required parameters."""
    return ToolOffer(name, description, {"type": "object", "properties": {**required}, "required": [*required]})


def asking(goal: str, *tools: ToolOffer, **told: JsonValue) -> ModelRequest:
    """Return a request for the first step; `told` is in the prompt beside the goal."""
    beside = [fenced_json(label, value) for label, value in told.items()]
    return ModelRequest(
        role=ModelRole.STEPS,
        system="Work.",
        user="\n\n".join([fenced("goal", goal), *beside]),
        max_output_tokens=2000,
        timeout=timedelta(seconds=5),
        tools=tools,
    )


async def ask(request: ModelRequest) -> ModelAnswer:
    return await OpenAIModel(WorkerSettings()).ask(request)


async def work(request: ModelRequest, results: Mapping[str, Result]) -> tuple[list[list[ModelCall]], str]:
    """Work to the end with these results by tool; return the calls by step, and the answer."""
    steps: list[list[ModelCall]] = []
    while (answer := await ask(request)).calls:
        steps.append([*answer.calls])
        told = [Message("tool", _shown(results.get(call.name)), call_id=call.id) for call in answer.calls]
        request = replace(request, messages=(*request.messages, Message("assistant", "", answer.calls), *told))
    return steps, answer.text


def _shown(result: Result) -> str:
    if isinstance(result, ErrorCode):
        return f"The call failed: {result}.\n{fenced('error', 'the server is away')}"
    return fenced("result", result if isinstance(result, str) else json.dumps(result))


def names(steps: list[list[ModelCall]]) -> list[list[str]]:
    return [[call.name for call in step] for step in steps]


async def test_recommends_games_from_four_parallel_calls_as_a_plan_run_does() -> None:
    goal = "a calm game under 20 USD"
    rows = {"games": GAMES, "prices": PRICES, "genre_facts": GENRE_FACTS, "genre_reviews": GENRE_REVIEWS}
    data = {name: TypeAdapter(list[object]).dump_json([*value]).decode() for name, value in rows.items()}
    tools = [offer(f"get_{name}") for name in data]

    steps, text = await work(asking(goal, *tools), {f"get_{name}": json.loads(value) for name, value in data.items()})

    assert names(steps) == [["get_games", "get_prices", "get_genre_facts", "get_genre_reviews"]]
    assert text == write_recommendation({"preferences": goal, **data})
    assert "Stardew Valley" in text


async def test_fills_arguments_from_the_goal() -> None:
    tool = offer("find_hotels", city=TEXT, nights={"type": "integer"})

    steps, text = await work(asking("A hotel in Paris for 3 nights", tool), {"find_hotels": ["Ritz", "Meurice"]})

    assert [json.loads(call.arguments) for call in steps[0]] == [{"city": "Paris", "nights": 3}]
    assert text.split("\n") == [
        "Summary for: A hotel in Paris for 3 nights",
        "- hotels: 2 entries: Ritz; Meurice",
        f"{OFFLINE_LINE} It lists what it was given and draws no conclusions.",
    ]


async def test_fills_optional_arguments_that_the_goal_names() -> None:
    tool = ToolOffer("get_news", "", {"type": "object", "properties": {"days": {"type": "integer"}, "page": TEXT}})

    answer = await ask(asking("News of the last 3 days", tool))

    assert [call.arguments for call in answer.calls] == ['{"days": 3}']


async def test_does_not_call_what_it_cannot_fill_in() -> None:
    answer = await ask(asking("Tell me something", offer("get_weather", lat={"type": "number"})))

    assert answer.calls == ()
    assert "No source was given." in answer.text


async def test_waits_for_the_tool_whose_result_is_meant() -> None:
    tools = offer("get_order", order_id=TEXT), offer("find_order", customer=TEXT), offer("get_clock")

    steps, _ = await work(
        asking("The order of customer Smith", *tools), {"find_order": {"order_id": "A7"}, "get_clock": "noon"}
    )

    assert names(steps) == [["find_order", "get_clock"], ["get_order"]]
    assert json.loads(steps[1][0].arguments) == {"order_id": "A7"}


@pytest.mark.parametrize(
    ("wanted", "result", "argument"),
    [
        pytest.param({"type": "array", "items": {"type": "number"}}, [1, 2], [1, 2], id="a list as it is"),
        pytest.param({"type": "array", "items": {"type": "number"}}, 1, [1], id="one as a list"),
        pytest.param({"type": "array"}, 1, [1], id="all results"),
        pytest.param({"type": "object", "properties": {}}, {"a": 1}, {"a": 1}, id="by its type"),
    ],
)
async def test_a_result_becomes_an_argument(wanted: JsonValue, result: JsonValue, argument: JsonValue) -> None:
    tools = offer("compare_values", prices=wanted), offer("get_prices")

    steps, _ = await work(asking("compare", *tools), {"get_prices": result})

    assert names(steps) == [["get_prices"], ["compare_values"]]
    assert json.loads(steps[1][0].arguments) == {"prices": argument}


async def test_takes_a_result_for_its_type_alone_when_nothing_else_is_there() -> None:
    tools = offer("analyse", readings={"type": "object"}), offer("get_clock")

    steps, _ = await work(asking("analyse it", *tools), {"get_clock": {"hour": 12}})

    assert names(steps) == [["get_clock"], ["analyse"]]


async def test_tools_that_wait_for_each_other_are_called_with_what_there_is() -> None:
    tools = offer("get_order", order_item=TEXT), offer("get_item", item_order=TEXT)

    steps, _ = await work(asking("the order of Smith", *tools), {"get_order": {}, "get_item": {}})

    assert names(steps) == [["get_order", "get_item"]]


async def test_data_that_came_with_the_goal_fills_arguments_and_is_in_the_answer() -> None:
    steps, text = await work(asking("look up", offer("get_order", order_id=TEXT), given={"order_id": "A7"}), {})

    assert [json.loads(call.arguments) for call in steps[0]] == [{"order_id": "A7"}]
    assert "- given: order_id A7" in text


@pytest.mark.parametrize(
    "tool",
    [
        offer("send_mail"),
        offer("deleteFile"),
        offer("github.create_issue"),
        offer("remember"),
        offer("recall"),
        offer("agent"),
        offer("notify", "Tell somebody. Effect: WRITE."),
        offer("touch", "Renew it (effect: IDEMPOTENT_WRITE)"),
    ],
    ids=lambda tool: tool.name,
)
async def test_calls_nothing_that_does_more_than_read(tool: ToolOffer) -> None:
    assert names((await work(asking("do it", tool, offer("find_post")), {}))[0]) == [["find_post"]]


async def test_calls_nothing_twice_and_says_what_failed() -> None:
    tools = offer("get_a"), offer("get_b")

    steps, text = await work(asking("a and b", *tools), {"get_a": ErrorCode.PROVIDER_UNAVAILABLE, "get_b": 5})

    assert names(steps) == [["get_a", "get_b"]]
    assert text.split("\n")[1:3] == ["- get_a failed: the server is away", "- b: 5"]


async def test_calls_nothing_that_the_record_of_earlier_steps_names() -> None:
    answer = await ask(asking("go on", offer("get_a"), offer("get_ab"), record="get_ab {} gave 5", summary="a = 1"))

    assert [call.name for call in answer.calls] == ["get_a"]


async def test_answers_when_it_must() -> None:
    answer = await ask(replace(asking("go on", offer("get_a")), must_answer=True))

    assert answer.calls == ()
    assert OFFLINE_LINE in answer.text


@pytest.mark.parametrize("result", [lambda _: "cut [{", lambda n: {f"k{n}": n}], ids=["text", "data"])
async def test_ends_within_five_steps_however_many_tools_there_are(result: Callable[[int], JsonValue]) -> None:
    tools = [offer(f"get_{number}_{kind}") for number in range(30) for kind in ("low", "calm")]
    results = {tool.name: result(number) for number, tool in enumerate(tools)}

    steps, text = await work(asking("something calm", *tools), results)

    assert [len(step) for step in steps] == [8, 8, 8, 8]
    assert all(name.endswith("calm") for step in names(steps)[:3] for name in step)
    assert "and many more sources" in text


async def test_calls_tools_by_the_names_that_they_have_here() -> None:
    answer = await ask(asking("the time", offer("world.clock")))

    assert [call.name for call in answer.calls] == ["world.clock"]
    assert answer.usage.output_tokens > 0
    assert answer.usage.cost_usd == 0


async def test_equal_requests_get_equal_steps() -> None:
    request = asking("the time", offer("get_clock"))

    assert (await ask(request)).calls == (await ask(request)).calls


async def test_calls_that_do_not_fit_are_an_answer_that_was_cut() -> None:
    with pytest.raises(ModelError) as caught:
        await ask(replace(asking("the time", offer("get_clock")), max_output_tokens=10))

    assert caught.value.code is ErrorCode.OUTPUT_TRUNCATED


@pytest.mark.parametrize("limit", [60, 100, 2000])
async def test_shortens_older_steps_to_the_newest_that_fit(limit: int) -> None:
    older = "\n".join(f"step {number}: search gave   {number}" for number in range(500))
    request = replace(asking("go on"), user=fenced("older_steps", older), max_output_tokens=limit)

    lines = (await ask(request)).text.split("\n")

    assert lines[-2:] == ["step 499: search gave 499", OFFLINE_LINE]
    assert lines[0] == f"{500 - len(lines) + 2} earlier lines are left out."


async def test_older_steps_that_fit_are_all_kept() -> None:
    request = replace(asking("go on"), user=fenced("older_steps", "one\n\ntwo"))

    assert (await ask(request)).text == f"one\ntwo\n{OFFLINE_LINE}"


async def test_an_answer_has_no_figure_that_is_in_neither_goal_nor_results() -> None:
    results: dict[str, Result] = {f"get_{letter}": [f"{letter * 300}"] * 40 for letter in "abcdefghijklmnopqrstuvwxyz"}

    _, text = await work(asking("compare all", *map(offer, results)), results)

    assert ungrounded(text, ()) == ()
    assert "many entries" in text
