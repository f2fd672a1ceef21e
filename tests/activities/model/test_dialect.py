from activities.model.client import OpenAIModel
from activities.settings import WorkerSettings
from harness.errors import ErrorCode
from harness.plan import Plan
from tests.activities.model.asking import KEY, ask, fail, request_for
from tests.scripted_model import Reply, ScriptedServer, completion, error

UNSUPPORTED_FORMAT = Reply(400, error("'response_format' of type 'json_schema' is not supported by this model"))
NO_JSON_MODE = Reply(400, error("Unsupported parameter", param="response_format"))
PLAN_BODY = Reply(body=completion('{"nodes": []}'))


async def test_falls_back_to_json_mode_then_to_text_and_remembers() -> None:
    async with ScriptedServer(UNSUPPORTED_FORMAT, NO_JSON_MODE, PLAN_BODY) as server:
        client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url))
        first = await client.ask(request_for(answer=Plan))
        await client.ask(request_for(answer=Plan))
        await client.close()

    assert first.text == '{"nodes": []}'
    formats = [seen.body.get("response_format", {}).get("type") for seen in server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    assert '"nodes"' in server.requests[2].body["messages"][0]["content"]
    assert "schema" not in server.requests[0].body["messages"][0]["content"]


async def test_falls_back_to_the_other_name_of_the_output_limit_once() -> None:
    refusal = Reply(400, error("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."))
    async with ScriptedServer(refusal, Reply(body=completion("Hello."))) as server:
        await ask(server)

    assert [seen.body.get("max_tokens") for seen in server.requests] == [50, None]
    assert server.requests[1].body["max_completion_tokens"] == 50


async def test_a_server_that_refuses_everything_is_asked_a_bounded_number_of_times() -> None:
    refusal = Reply(400, error("response_format, max_tokens and max_completion_tokens are not supported"))

    failure, server = await fail(refusal, request=request_for(answer=Plan))

    assert failure.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert len(server.requests) == 4
