import asyncio
import base64
import logging
import socket
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from activities.model.client import OpenAIModel
from activities.model.request import ModelError, ModelRequest
from activities.settings import WorkerSettings
from harness.errors import ErrorCode
from harness.model_choice import ModelRole
from harness.plan import Plan
from tests.activities.model.asking import KEY, ask, fail, request_for
from tests.scripted_model import Reply, ScriptedServer, completion, error


async def test_an_answer_says_who_gave_it_why_it_ended_and_how_long_it_took() -> None:
    async with ScriptedServer(Reply(body=completion("Hello.", model="m" * 500))) as server:
        answer = await ask(server)

    assert answer.finish_reason == "stop"
    assert answer.model.startswith("mmm")
    assert len(answer.model) <= 100
    assert 0 <= answer.latency_ms < 5000


async def test_asks_by_one_chat_completion_and_returns_text_usage_and_cost() -> None:
    async with ScriptedServer(Reply(body=completion("Hello."))) as server:
        answer = await ask(server)

    assert answer.text == "Hello."
    assert (answer.usage.model, answer.usage.input_tokens, answer.usage.output_tokens) == ("gpt-4.1-mini", 11, 7)
    assert answer.usage.cost_usd == 11 * Decimal("0.0000004") + 7 * Decimal("0.0000016")
    assert not answer.usage.estimated
    [seen] = server.requests
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "model": "gpt-4.1-mini",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
        "max_tokens": 50,
    }


async def test_a_structured_answer_is_asked_for_by_strict_schema() -> None:
    async with ScriptedServer(Reply(body=completion('{"nodes": []}'))) as server:
        await ask(server, request_for(answer=Plan))

    sent = server.requests[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert (sent["json_schema"]["name"], sent["json_schema"]["strict"]) == ("plan", True)
    assert sent["json_schema"]["schema"]["required"] == ["nodes"]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(Reply(401, error(f"Incorrect API key provided: {KEY}")), ErrorCode.AUTHENTICATION, id="401"),
        pytest.param(Reply(403, error("no")), ErrorCode.AUTHENTICATION, id="403"),
        pytest.param(Reply(402, error("pay")), ErrorCode.QUOTA_EXHAUSTED, id="402"),
        pytest.param(
            Reply(404, error("The model does not exist", code="model_not_found")),
            ErrorCode.TOOL_EXECUTION_FAILED,
            id="404",
        ),
        pytest.param(
            Reply(400, error("too big", code="context_length_exceeded")),
            ErrorCode.CONTEXT_OVERFLOW,
            id="overflow by code",
        ),
        pytest.param(
            Reply(400, error("the request exceeds the available context size, try increasing it")),
            ErrorCode.CONTEXT_OVERFLOW,
            id="overflow by text",
        ),
        pytest.param(
            Reply(400, error("This model's maximum context length is 8192 tokens")),
            ErrorCode.CONTEXT_OVERFLOW,
            id="overflow, OpenAI",
        ),
        pytest.param(
            Reply(400, error("prompt is too long: 250000 tokens")),
            ErrorCode.CONTEXT_OVERFLOW,
            id="overflow, other words",
        ),
        pytest.param(Reply(400, b""), ErrorCode.TOOL_EXECUTION_FAILED, id="400 without a body"),
        pytest.param(Reply(400, error("bad")), ErrorCode.TOOL_EXECUTION_FAILED, id="400"),
        pytest.param(
            Reply(400, error("filtered", code="content_filter")), ErrorCode.GUARDRAIL_BLOCKED, id="400 content filter"
        ),
        pytest.param(Reply(413, "<html>too large</html>"), ErrorCode.CONTEXT_OVERFLOW, id="413"),
        pytest.param(Reply(422, error("bad")), ErrorCode.TOOL_EXECUTION_FAILED, id="422"),
        pytest.param(Reply(408, error("slow")), ErrorCode.TIMEOUT, id="408"),
        pytest.param(Reply(409, error("again")), ErrorCode.PROVIDER_UNAVAILABLE, id="409"),
        pytest.param(Reply(500, error("oops")), ErrorCode.PROVIDER_UNAVAILABLE, id="500"),
        pytest.param(Reply(502, "<html>bad gateway</html>"), ErrorCode.PROVIDER_UNAVAILABLE, id="502"),
        pytest.param(Reply(503, error("busy")), ErrorCode.PROVIDER_UNAVAILABLE, id="503"),
        pytest.param(Reply(529, error("overloaded")), ErrorCode.PROVIDER_UNAVAILABLE, id="529"),
        pytest.param(Reply(429, error("slow down")), ErrorCode.RATE_LIMITED, id="429"),
        pytest.param(Reply(429, error("pay", code="insufficient_quota")), ErrorCode.QUOTA_EXHAUSTED, id="429 quota"),
        pytest.param(Reply(is_reset=True), ErrorCode.PROVIDER_UNAVAILABLE, id="connection reset"),
        pytest.param(Reply(200, "<html>hello</html>"), ErrorCode.INVALID_OUTPUT, id="200 HTML"),
        pytest.param(
            Reply(200, "{", headers={"content-type": "application/json"}),
            ErrorCode.INVALID_OUTPUT,
            id="200 broken JSON",
        ),
        pytest.param(Reply(200, []), ErrorCode.INVALID_OUTPUT, id="200 JSON list"),
        pytest.param(Reply(200, {}), ErrorCode.INVALID_OUTPUT, id="200 empty object"),
        pytest.param(Reply(200, {"choices": []}), ErrorCode.INVALID_OUTPUT, id="no choices"),
        pytest.param(Reply(200, {"choices": [{"message": None}]}), ErrorCode.INVALID_OUTPUT, id="no message"),
        pytest.param(Reply(200, {"choices": None, "usage": None}), ErrorCode.INVALID_OUTPUT, id="null choices"),
    ],
)
async def test_every_failure_has_its_code_and_is_sent_once(reply: Reply, code: ErrorCode) -> None:
    failure, server = await fail(reply)

    assert failure.code is code
    assert len(server.requests) == 1
    assert failure.message
    assert KEY not in failure.message
    assert failure.__cause__ is None


async def test_connection_refused_is_provider_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    client = OpenAIModel(WorkerSettings(api_key=KEY, base_url=f"http://127.0.0.1:{port}/v1"))

    with pytest.raises(ModelError) as caught:
        await client.ask(request_for())

    await client.close()
    assert caught.value.code is ErrorCode.PROVIDER_UNAVAILABLE
    assert caught.value.usage.total_tokens == 0


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        pytest.param(
            completion('{"nodes": [', finish="length"), ErrorCode.OUTPUT_TRUNCATED, "50 output tokens", id="half"
        ),
        pytest.param(completion(None, finish="length"), ErrorCode.OUTPUT_TRUNCATED, "cut", id="length without content"),
        pytest.param(
            completion('{"nodes": []}', finish="length"), ErrorCode.OUTPUT_TRUNCATED, "cut", id="length, looks whole"
        ),
        pytest.param(
            completion("", finish="content_filter"), ErrorCode.GUARDRAIL_BLOCKED, "filter", id="content filter"
        ),
        pytest.param(completion(None, refusal="I will not."), ErrorCode.GUARDRAIL_BLOCKED, "I will not", id="refusal"),
        pytest.param(completion(None), ErrorCode.INVALID_OUTPUT, "empty", id="null content"),
        pytest.param(completion(" \n"), ErrorCode.INVALID_OUTPUT, "empty", id="blank content"),
    ],
)
async def test_unusable_answers_are_named_and_paid_for(body: dict[str, Any], code: ErrorCode, said: str) -> None:
    failure, server = await fail(Reply(body=body), request=request_for(answer=Plan))

    assert failure.code is code
    assert said in failure.message
    assert failure.usage.total_tokens == 18
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param("absent", id="absent"),
        pytest.param(None, id="null"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, id="zeros"),
        pytest.param({"in": 5, "out": 5}, id="unknown names"),
        pytest.param({"prompt_tokens": None, "completion_tokens": None}, id="null counts"),
        pytest.param({"prompt_tokens": -1, "completion_tokens": 3}, id="negative"),
        pytest.param({"prompt_tokens": "9", "completion_tokens": "3"}, id="text"),
        pytest.param({"prompt_tokens": 9, "completion_tokens": 0}, id="no output for a text"),
        pytest.param([], id="a list"),
    ],
)
async def test_missing_usage_is_estimated_and_marked(usage: object) -> None:
    async with ScriptedServer(Reply(body=completion("Hello there.", usage=usage))) as server:
        answer = await ask(server)

    assert answer.usage.estimated
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0
    assert answer.usage.cost_usd


async def test_null_finish_reason_and_missing_details_are_fine() -> None:
    body = completion("Hello.", finish=None, usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5})

    async with ScriptedServer(Reply(body=body)) as server:
        answer = await ask(server)

    assert answer.usage.total_tokens == 5
    assert not answer.usage.estimated


async def test_an_unknown_price_is_unknown_not_free() -> None:
    async with ScriptedServer(Reply(body=completion("Hello."))) as server:
        answer = await ask(server, model="home-made-7b")

    assert answer.usage.cost_usd is None
    assert answer.usage.total_tokens == 18


async def test_a_call_that_takes_too_long_ends_closes_its_connection_and_costs_its_prompt() -> None:
    async with ScriptedServer(Reply(is_hanging=True)) as server:
        with pytest.raises(ModelError) as caught:
            await ask(server, request_for(timeout=timedelta(milliseconds=100)))
        await asyncio.wait_for(server.client_left.wait(), 2)

    assert caught.value.code is ErrorCode.TIMEOUT
    assert str(caught.value) == "the model gave no answer within 0.1 s"
    assert caught.value.usage.estimated
    assert caught.value.usage.input_tokens > 0
    assert len(server.requests) == 1


async def test_cancelling_the_task_closes_the_connection() -> None:
    async with ScriptedServer(Reply(is_hanging=True)) as server:
        task = asyncio.create_task(ask(server))
        await server.request_seen.wait()

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.client_left.wait(), 2)


async def test_credentials_of_the_url_are_sent_but_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with ScriptedServer(Reply(401, error("who are you? me:hunter2-canary, Bearer abc.def"))) as server:
        url = server.url.replace("http://", "http://me-canary:hunter2-canary@")
        client = OpenAIModel(WorkerSettings.from_environment({"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}))
        with pytest.raises(ModelError) as caught:
            await client.ask(request_for())
        await client.close()

    pair = base64.b64encode(b"me-canary:hunter2-canary").decode()
    assert server.requests[0].headers["authorization"] == f"Basic {pair}"
    told = f"{caught.value.message} {caught.value!r} {caplog.text}"
    assert "canary" not in told
    assert "abc.def" not in told
    assert pair not in told


async def test_a_prompt_that_cannot_be_encoded_is_named_and_not_sent() -> None:
    bad = ModelRequest(
        role=ModelRole.SYNTHESIS, system="", user="\ud800", max_output_tokens=5, timeout=timedelta(seconds=5)
    )

    failure, server = await fail(Reply(body=completion("Hello.")), request=bad)

    assert failure.code is ErrorCode.INVALID_ARGUMENT
    assert not server.requests
