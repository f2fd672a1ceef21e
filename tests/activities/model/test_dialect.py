import asyncio

import pytest

from activities.model.client import OpenAIModel
from activities.model.dialect import RefusalMemory
from activities.model.request import ModelError
from activities.settings import WorkerSettings
from harness.errors import ErrorCode
from harness.model_choice import ModelChoice, ModelRole
from harness.plan import Plan
from tests.activities.model.asking import KEY, ask, fail, request_for
from tests.scripted_model import Reply, ScriptedServer, completion, error

UNSUPPORTED_FORMAT = Reply(400, error("'response_format' of type 'json_schema' is not supported by this model"))
NO_JSON_MODE = Reply(400, error("Unsupported parameter", param="response_format"))
PLAN_BODY = Reply(body=completion('{"nodes": []}'))
STRUCTURED = request_for(answer=Plan)


def formats(server: ScriptedServer) -> list[str | None]:
    return [seen.body.get("response_format", {}).get("type") for seen in server.requests]


async def test_falls_back_to_json_mode_then_to_text_and_remembers() -> None:
    async with ScriptedServer(UNSUPPORTED_FORMAT, NO_JSON_MODE, PLAN_BODY) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        first = await client.ask(STRUCTURED)
        await client.ask(STRUCTURED)
        await client.close()

    assert first.text == '{"nodes": []}'
    assert formats(server) == ["json_schema", "json_object", None, None]
    assert '"nodes"' in server.requests[2].body["messages"][0]["content"]
    assert "schema" not in server.requests[0].body["messages"][0]["content"]


async def test_a_refusal_is_remembered_by_every_model_of_a_worker_that_has_that_name_and_server() -> None:
    memory = RefusalMemory()
    async with ScriptedServer(UNSUPPORTED_FORMAT, PLAN_BODY) as server:
        for name in ("small", "small", "large"):
            client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url, model=name), memory=memory)
            await client.ask(STRUCTURED)
            await client.close()

    assert formats(server) == ["json_schema", "json_object", "json_object", "json_schema"]


async def test_roles_with_one_model_share_what_it_refused() -> None:
    as_planner = request_for(answer=Plan, role=ModelRole.PLANNER)
    async with ScriptedServer(UNSUPPORTED_FORMAT, PLAN_BODY) as server:
        roles = {ModelRole.PLANNER: "small", ModelRole.SYNTHESIS: "small"}
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url, role_models=roles))
        await client.ask(as_planner)
        await client.ask(STRUCTURED)
        await client.close()

    assert formats(server) == ["json_schema", "json_object", "json_object"]


async def test_another_model_of_a_run_has_its_own_dialect() -> None:
    other = request_for(answer=Plan, models=ModelChoice(by_role={ModelRole.SYNTHESIS: "other"}))
    async with ScriptedServer(UNSUPPORTED_FORMAT, PLAN_BODY) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        await client.ask(STRUCTURED)
        await client.ask(other)
        await client.close()

    assert formats(server) == ["json_schema", "json_object", "json_schema"]


class KnowsTextOnly(ScriptedServer):
    """Answers by what a request asks for, in whichever order requests come."""

    def _next_reply(self) -> Reply:
        return {"json_schema": UNSUPPORTED_FORMAT, "json_object": NO_JSON_MODE, None: PLAN_BODY}[formats(self)[-1]]


async def test_calls_at_the_same_time_never_forget_what_another_one_learned() -> None:
    async with KnowsTextOnly() as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        await asyncio.gather(client.ask(STRUCTURED), client.ask(STRUCTURED))
        await client.ask(STRUCTURED)
        await client.close()

    assert formats(server)[-1] is None


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(UNSUPPORTED_FORMAT, id="OpenAI"),
        pytest.param(Reply(400, error("Invalid schema for response_format 'plan': ...")), id="schema not accepted"),
        pytest.param(Reply(400, error("This response_format type is unavailable now")), id="DeepSeek"),
        pytest.param(Reply(400, {"error": {"code": 400, "message": "Failed to parse grammar"}}), id="llama.cpp"),
        pytest.param(
            Reply(422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}),
            id="FastAPI",
        ),
    ],
)
async def test_knows_a_refusal_of_the_format_in_the_words_of_many_servers(refusal: Reply) -> None:
    async with ScriptedServer(refusal, PLAN_BODY) as server:
        await ask(server, STRUCTURED)

    assert formats(server) == ["json_schema", "json_object"]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(
            Reply(400, error("Invalid 'messages[0]': see response_format", param="messages[0]")), id="other parameter"
        ),
        pytest.param(Reply(400, error("too long for json_schema", code="context_length_exceeded")), id="overflow"),
        pytest.param(Reply(500, error("response_format is not supported")), id="500"),
        pytest.param(Reply(400, error("json_schema has seen better days")), id="no refusal"),
    ],
)
async def test_what_is_no_refusal_of_the_form_is_neither_asked_again_nor_remembered(reply: Reply) -> None:
    async with ScriptedServer(reply, PLAN_BODY) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        with pytest.raises(ModelError):
            await client.ask(STRUCTURED)
        await client.ask(STRUCTURED)
        await client.close()

    assert formats(server) == ["json_schema", "json_schema"]


async def test_falls_back_to_the_other_name_of_the_output_limit_once() -> None:
    refusal = Reply(400, error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."))
    async with ScriptedServer(refusal, Reply(body=completion("Hello."))) as server:
        await ask(server)

    assert [seen.body.get("max_tokens") for seen in server.requests] == [50, None]
    assert server.requests[1].body["max_completion_tokens"] == 50


async def test_a_server_that_refuses_everything_is_asked_a_bounded_number_of_times() -> None:
    refusal = Reply(400, error("response_format, max_tokens and max_completion_tokens are not supported"))

    failure, server = await fail(refusal, request=STRUCTURED)

    assert failure.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert len(server.requests) == 4


async def test_what_is_refused_in_every_form_was_not_refused_for_its_form() -> None:
    refusal = Reply(400, error("response_format, max_tokens and max_completion_tokens are not supported"))
    async with ScriptedServer(*[refusal] * 4, PLAN_BODY) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        with pytest.raises(ModelError):
            await client.ask(STRUCTURED)
        await client.ask(STRUCTURED)
        await client.close()

    assert formats(server) == ["json_schema", "json_object", None, None, "json_schema"]


async def test_a_failure_that_passes_does_not_undo_what_was_learned() -> None:
    async with ScriptedServer(UNSUPPORTED_FORMAT, Reply(503, error("busy")), PLAN_BODY) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        with pytest.raises(ModelError):
            await client.ask(STRUCTURED)
        await client.ask(STRUCTURED)
        await client.close()

    assert formats(server) == ["json_schema", "json_object", "json_object"]
