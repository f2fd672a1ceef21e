from dataclasses import replace

import pytest

from activities.model.client import OpenAIModel
from activities.model.completion import estimate_prompt
from activities.model.dialect import Dialect, Feature
from activities.model.request import Message, ModelCall, ModelRequest, ToolOffer
from activities.settings import WorkerSettings
from harness.usage import estimate_tokens
from tests.activities.model.asking import KEY, ask, request_for
from tests.activities.model.stepping import EARLIER, call, calling, step_request
from tests.scripted_model import Reply, ScriptedServer, completion, error


async def test_offers_tools_by_names_that_every_server_takes() -> None:
    async with ScriptedServer(calling(call())) as server:
        await ask(server, step_request())

    assert server.requests[0].body == {
        "model": "gpt-4.1-mini",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
        "max_tokens": 50,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search",
                    "description": "Find pages.",
                    "parameters": {
                        "type": "object",
                        "properties": {"q": {"type": "string"}},
                        "required": ["q"],
                        "additionalProperties": False,
                    },
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "world_clock",
                    "description": "Tell the time.",
                    "parameters": {"type": "object", "properties": {}},
                },
            },
        ],
    }


async def test_sends_the_conversation_with_its_calls_and_their_results() -> None:
    async with ScriptedServer(Reply(body=completion("Done."))) as server:
        answer = await ask(server, step_request(*EARLIER))

    assert (answer.text, answer.calls) == ("Done.", ())
    assert server.requests[0].body["messages"][2:] == [
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"cats"}'}},
                {"id": "c2", "type": "function", "function": {"name": "world_clock", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "9 lives"},
        {"role": "tool", "tool_call_id": "c2", "content": "noon"},
        {"role": "user", "content": "Go on."},
    ]


async def test_a_call_comes_back_by_the_name_that_its_tool_has_here() -> None:
    async with ScriptedServer(calling(call(), call("world_clock", "{}", "c2"))) as server:
        answer = await ask(server, step_request())

    assert answer.calls == (ModelCall("c1", "search", '{"q":"cats"}'), ModelCall("c2", "world.clock", "{}"))
    assert answer.finish_reason == "tool_calls"


async def test_a_name_that_is_not_exactly_an_offered_one_stays_as_the_model_wrote_it() -> None:
    async with ScriptedServer(calling(call("Search "), call("web_serach", "{}", "c2"))) as server:
        answer = await ask(server, step_request())

    assert [each.name for each in answer.calls] == ["Search ", "web_serach"]


async def test_a_name_that_a_model_made_up_is_sent_back_in_letters_that_servers_take() -> None:
    made_up = (Message("assistant", "", (ModelCall("1.1", "Search !", "{}"),)), Message("tool", "no", call_id="1.1"))

    async with ScriptedServer(calling(call())) as server:
        await ask(server, step_request(*made_up))

    [assistant, result] = server.requests[0].body["messages"][2:]
    [sent] = assistant["tool_calls"]
    assert assistant["content"] is None
    assert sent["function"]["name"] == "Search__"
    assert sent["id"] == result["tool_call_id"] == "b05e24476"


async def test_a_request_that_must_be_answered_names_its_tools_and_allows_none() -> None:
    async with ScriptedServer(Reply(body=completion("Done."))) as server:
        await ask(server, step_request(*EARLIER, must_answer=True))

    assert server.requests[0].body["tool_choice"] == "none"
    assert len(server.requests[0].body["tools"]) == 2


async def test_calls_beside_the_text_of_an_answer_that_must_be_one_do_not_count() -> None:
    async with ScriptedServer(calling(call(), text="Nine."), calling(call())) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        with_text = await client.ask(step_request(must_answer=True))
        without = await client.ask(step_request(must_answer=True))
        await client.close()

    assert (with_text.text, with_text.calls) == ("Nine.", ())
    assert without.calls == (ModelCall("c1", "search", '{"q":"cats"}'),)


async def test_a_server_that_does_not_know_the_order_to_call_nothing_is_asked_without_it() -> None:
    refusal = Reply(404, error("No endpoints found that support the provided 'tool_choice' value."))

    async with ScriptedServer(refusal, Reply(body=completion("Done."))) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        first = await client.ask(step_request(must_answer=True))
        await client.ask(step_request(must_answer=True))
        await client.close()

    assert first.text == "Done."
    assert [seen.body.get("tool_choice") for seen in server.requests] == ["none", None, None]
    assert all("tools" in seen.body for seen in server.requests)


async def test_calls_that_nobody_offered_are_not_read() -> None:
    async with ScriptedServer(calling(call(), text="Hello.")) as server:
        answer = await ask(server)

    assert (answer.text, answer.calls) == ("Hello.", ())


async def test_calls_have_ids_that_differ_whatever_the_server_gives_them() -> None:
    twice = calling(call(), call(), call(call_id=None), call(call_id=7), call(call_id="x" * 101), call(call_id=""))

    async with ScriptedServer(twice) as server:
        answer = await ask(server, step_request())

    ids = [each.id for each in answer.calls]
    assert ids[0] == "c1"
    assert len(set(ids)) == 6
    assert all(len(each) == 9 for each in ids[1:])


async def test_arguments_are_json_text_whatever_form_a_server_gives_them() -> None:
    forms = ['{"q": "é"}', {"q": "é"}, None, "", [1], 7, "{half"]

    async with ScriptedServer(calling(*[call(arguments=form) for form in forms])) as server:
        answer = await ask(server, step_request())

    assert [each.arguments for each in answer.calls] == ['{"q": "é"}', '{"q": "é"}', "{}", "{}", "[1]", "7", "{half"]


async def test_what_no_request_could_carry_is_replaced_in_calls() -> None:
    async with ScriptedServer(calling(call("a\ud800", {"q": "\udfff"}, "i\ud800"))) as server:
        [read] = (await ask(server, step_request())).calls

    assert (read.name, read.arguments) == ("a?", '{"q": "?"}')
    assert read.id.isalnum()


async def test_a_name_without_end_is_cut() -> None:
    async with ScriptedServer(calling(call("x" * 10_000))) as server:
        answer = await ask(server, step_request())

    assert len(answer.calls[0].name) <= 200


async def test_a_key_in_a_call_is_hidden() -> None:
    async with ScriptedServer(calling(call(KEY, f'{{"q":"{KEY}"}}', KEY))) as server:
        answer = await ask(server, step_request())

    assert answer.calls == (ModelCall("***", "***", '{"q":"***"}'),)


async def test_a_call_without_counts_of_its_server_costs_what_its_text_would() -> None:
    body = completion(None, usage=None, tool_calls=[call(arguments="x" * 4000)])

    async with ScriptedServer(Reply(body=body)) as server:
        answer = await ask(server, step_request())

    assert answer.usage.estimated
    assert 1000 <= answer.usage.output_tokens <= 1100


@pytest.mark.parametrize("must_answer", [False, True])
@pytest.mark.parametrize("messages", [(), EARLIER], ids=["first step", "later step"])
@pytest.mark.parametrize("refused", [frozenset[Feature](), frozenset({Feature.TOOLS})], ids=["native", "actions"])
def test_the_estimate_of_a_prompt_holds_in_either_form(
    refused: frozenset[Feature], messages: tuple[Message, ...], *, must_answer: bool
) -> None:
    request = step_request(*messages, must_answer=must_answer)
    dialect = Dialect(refused=refused)
    body = dialect.body(dialect.form(request), "m")

    texts = [str(message.get("content") or "") for message in body["messages"]]
    sent = sum(map(len, [*texts, str(body.get("tools", "")), str(body.get("response_format", ""))])) // 4

    assert sent <= estimate_prompt(request) <= sent + 500


def test_the_estimate_of_a_prompt_without_tools_is_that_of_its_texts() -> None:
    assert estimate_prompt(request_for()) == estimate_tokens("Be brief.") + estimate_tokens("Say hello.")


def test_tools_whose_names_become_equal_get_names_that_differ() -> None:
    offers = tuple(ToolOffer(name, "", {}) for name in ("a.b", "a_b", "a-b", "a b", "x" * 70, "x" * 71))
    request: ModelRequest = replace(step_request(), tools=offers)

    names = [tool["function"]["name"] for tool in Dialect().body(request, "m")["tools"]]

    assert names[1:3] == ["a_b", "a-b"]
    assert len(set(names)) == 6
    assert max(map(len, names)) == 64
