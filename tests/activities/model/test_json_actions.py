import json
from dataclasses import replace

import pytest

from activities.model.client import OpenAIModel
from activities.model.dialect import RefusalMemory
from activities.model.json_actions import StepAction, as_actions, read_action
from activities.model.request import Message, ModelCall, ModelError
from activities.model.said import Said
from activities.model.strict_schema import strict_schema
from activities.prompts import unfenced
from activities.settings import WorkerSettings
from harness.errors import ErrorCode
from tests.activities.model.asking import KEY, ask, fail
from tests.activities.model.stepping import BOTH, EARLIER, NO_TOOLS, call, calling, step_request
from tests.scripted_model import Reply, ScriptedServer, completion, error

ANSWER = Reply(body=completion('{"calls": [], "answer": "Nine."}'))
ACTION = '{"calls": [{"tool": "world.clock", "arguments": "{}"}], "answer": ""}'


def ways(server: ScriptedServer) -> list[str]:
    """Return how tools were offered by each request: as such, or as JSON of some kind."""
    bodies = [seen.body for seen in server.requests]
    return ["tools" if "tools" in body else body.get("response_format", {}).get("type", "text") for body in bodies]


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(NO_TOOLS, id="Ollama"),
        pytest.param(
            Reply(400, error('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')),
            id="vLLM",
        ),
        pytest.param(Reply(500, error("tools param requires --jinja flag")), id="llama.cpp"),
        pytest.param(Reply(500, {"code": 500, "message": "Unsupported param: tools"}), id="llama.cpp of 2024"),
        pytest.param(Reply(404, error("No endpoints found that support tool use.", code="404")), id="OpenRouter"),
        pytest.param(Reply(400, error("`tool calling` is not supported with this model")), id="Groq"),
        pytest.param(Reply(400, error("Unsupported parameter", param="tools")), id="by parameter"),
        pytest.param(Reply(400, error("This model doesn't support function calling.")), id="in other words"),
        pytest.param(
            Reply(422, {"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}), id="FastAPI"
        ),
        pytest.param(
            Reply(400, error("Invalid schema for function 'search'", param="tools[0].parameters")),
            id="a schema",
        ),
        pytest.param(Reply(400, error("Failed to parse grammar")), id="a schema, llama.cpp"),
        pytest.param(
            Reply(400, error("conversation roles must alternate user/assistant/user/assistant/...")), id="a template"
        ),
        pytest.param(Reply(400, error("Function call is missing a thought_signature.")), id="Gemini"),
    ],
)
async def test_a_server_that_refuses_tools_gets_json_actions(refusal: Reply) -> None:
    async with ScriptedServer(refusal, ANSWER) as server:
        answer = await ask(server, step_request())

    assert answer.text == "Nine."
    assert ways(server) == ["tools", "json_schema"]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(400, error("Invalid role", param="messages.[3].role")), id="other parameter"),
        pytest.param(Reply(400, error("tools do not fit", code="context_length_exceeded")), id="overflow"),
        pytest.param(Reply(404, error("unknown model: groq-tool-use")), id="404"),
        pytest.param(Reply(500, error("invalid tool call: parser crashed")), id="500"),
        pytest.param(Reply(429, error("tools are not supported at this rate")), id="429"),
        pytest.param(Reply(400, error("tools have seen better days")), id="no refusal"),
    ],
)
async def test_what_is_no_refusal_of_tools_is_neither_asked_again_nor_remembered(reply: Reply) -> None:
    async with ScriptedServer(reply, calling(call())) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        with pytest.raises(ModelError):
            await client.ask(step_request())
        await client.ask(step_request())
        await client.close()

    assert ways(server) == ["tools", "tools"]


async def test_a_refusal_of_tools_is_remembered_by_model_and_server() -> None:
    memory = RefusalMemory()
    async with ScriptedServer(NO_TOOLS, ANSWER, ANSWER, calling(call())) as server:
        for name in ("small", "small", "large"):
            client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url, model=name), memory=memory)
            await client.ask(step_request())
            await client.close()

    assert ways(server) == ["tools", "json_schema", "json_schema", "tools"]


async def test_what_is_refused_in_every_form_was_not_refused_for_its_tools() -> None:
    refusal = Reply(400, error("Invalid tools, response_format, max_tokens and max_completion_tokens"))

    failure, server = await fail(refusal, request=step_request())

    assert failure.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert ways(server) == ["tools", "json_schema", "json_object", "text", "text"]


async def test_an_action_is_asked_for_by_strict_schema_with_the_tools_in_a_fence() -> None:
    async with ScriptedServer(NO_TOOLS, ANSWER) as server:
        await ask(server, step_request())

    body = server.requests[1].body
    sent = body["response_format"]["json_schema"]
    system = body["messages"][0]["content"]
    assert (sent["name"], sent["strict"], sent["schema"]) == ("step_action", True, strict_schema(StepAction))
    assert system.startswith("Be brief.\n\nYou act by writing one JSON object")
    assert [json.loads(line)["tool"] for line in unfenced(system)["tools"].splitlines()] == ["search", "world.clock"]


def test_a_conversation_without_tools_takes_turns_and_shows_calls_as_they_are_written() -> None:
    form = as_actions(step_request(Message("user", "Be quick."), *EARLIER))

    assert (form.user, form.messages) == (
        "Say hello.\n\nBe quick.",
        (
            Message(
                "assistant",
                r'{"calls": [{"tool": "search", "arguments": "{\"q\":\"cats\"}"}, '
                r'{"tool": "world.clock", "arguments": "{}"}], "answer": "Let me see."}',
            ),
            Message(
                "user",
                "What came of call 1, search:\n9 lives\n\nWhat came of call 2, world.clock:\nnoon\n\nGo on.",
            ),
        ),
    )


def test_a_result_whose_call_is_no_longer_told_is_that_of_an_earlier_call() -> None:
    form = as_actions(step_request(Message("tool", "9 lives", call_id="c9")))

    assert form.user == "Say hello.\n\nWhat came of an earlier call:\n9 lives"


def test_a_request_that_must_be_answered_offers_nothing() -> None:
    form = as_actions(step_request(*EARLIER, must_answer=True))

    assert form.answer is StepAction
    assert "You may call no tool any\nmore" in form.system
    assert "world.clock" not in form.system


async def test_a_conversation_about_tools_is_plain_for_a_request_that_offers_none_any_more() -> None:
    request = replace(step_request(*EARLIER), tools=())

    async with ScriptedServer(NO_TOOLS, Reply(body=completion("Nine."))) as server:
        answer = await ask(server, request)

    assert answer.text == "Nine."
    assert [message["role"] for message in server.requests[0].body["messages"]][2:4] == ["assistant", "tool"]
    assert [message["role"] for message in server.requests[1].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert server.requests[1].body["messages"][0]["content"] == "Be brief."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('{"calls": [], "answer": "Nine {9}."}', Said("Nine {9}."), id="an answer"),
        pytest.param('{"answer": "Nine."}', Said("Nine."), id="an answer alone"),
        pytest.param("{calls: [], 'answer': 'Nine.',}", Said("Nine."), id="bad syntax"),
        pytest.param('{"calls": [], "answer": null}', Said(""), id="null"),
        pytest.param("Nine.", Said("Nine."), id="prose"),
        pytest.param("I would look {here} first.", Said("I would look {here} first."), id="prose with braces"),
        pytest.param('Use `f(x) { return {"a": 1} }`.', Said('Use `f(x) { return {"a": 1} }`.'), id="prose with code"),
        pytest.param("", Said(""), id="nothing"),
    ],
)
def test_reads_answers(text: str, said: Said) -> None:
    assert read_action(text, step_request()) == said


def test_reads_calls_and_keeps_what_is_said_beside_them() -> None:
    said = read_action(ACTION.replace('"answer": ""', '"answer": "Let me see."'), step_request())

    assert said.text == "Let me see."
    assert [(each.name, each.arguments) for each in said.calls] == [("world.clock", "{}")]


@pytest.mark.parametrize("empty", ['""', "null", "{}", '"{}"'])
def test_a_call_without_arguments_has_an_empty_object_of_them(empty: str) -> None:
    [call] = read_action(f'{{"calls": [{{"tool": "world.clock", "arguments": {empty}}}]}}', step_request()).calls

    assert call.arguments == "{}"


def test_equal_calls_have_ids_that_differ_between_places_and_steps() -> None:
    twice = json.dumps({"calls": [{"tool": "search", "arguments": "{}"}] * 2})

    said = [*read_action(twice, step_request()).calls, *read_action(twice, step_request(*EARLIER)).calls]

    assert len({each.id for each in said}) == 4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param('{"calls": [{"tool": ""}]}', "a call of the answer names no tool", id="no name"),
        pytest.param('{"calls": [{"name": "search"}]}', "calls.0.tool: Field required", id="other fields"),
        pytest.param('{"calls": [{"tool": "search", "arguments": [1]}]}', "valid string", id="arguments of a list"),
        pytest.param(json.dumps({"calls": [{"tool": "search"}] * 129}), "has 129 calls; at most 128", id="too many"),
    ],
)
def test_json_that_is_no_action_is_refused_with_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(ModelError, match=problem) as caught:
        read_action(text, step_request())

    assert caught.value.code is ErrorCode.INVALID_OUTPUT


async def test_an_answer_that_must_be_one_counts_whatever_calls_are_beside_it() -> None:
    both = Reply(body=completion('{"calls": [{"tool": "search"}], "answer": "Nine."}'))

    async with ScriptedServer(NO_TOOLS, both) as server:
        answer = await ask(server, step_request(*EARLIER, must_answer=True))

    assert (answer.text, answer.calls) == ("Nine.", ())


async def test_a_server_that_calls_tools_it_was_not_sent_is_understood() -> None:
    async with ScriptedServer(NO_TOOLS, calling(call())) as server:
        answer = await ask(server, step_request())

    assert answer.calls == BOTH[:1]


async def test_a_key_in_an_action_is_hidden() -> None:
    leak = Reply(body=completion(json.dumps({"calls": [{"tool": KEY, "arguments": {"q": KEY}}], "answer": KEY})))

    async with ScriptedServer(NO_TOOLS, leak) as server:
        answer = await ask(server, step_request())

    [only] = answer.calls
    assert (answer.text, only) == ("***", ModelCall(only.id, "***", '{"q": "***"}'))
