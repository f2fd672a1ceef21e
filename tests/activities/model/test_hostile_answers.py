"""Answers that a broken or hostile server gives: each has one outcome, shows no secret, and costs what it can cost."""

import json
from typing import Any

import pytest

from activities.answers import parse_answer
from activities.model.client import OpenAIModel
from activities.model.request import ModelError
from activities.model.scrubbing import hide
from activities.settings import WorkerSettings
from harness.errors import ErrorCode
from harness.plan import Plan
from tests.activities.model.asking import KEY, ask, fail, request_for
from tests.scripted_model import Reply, ScriptedServer, completion

ESCAPED = "".join(f"\\u{ord(char):04X}" for char in KEY)
AS_JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Error: invalid api key {KEY} given", id="prose"),
        pytest.param(f'{{"nodes": "{KEY}"}}', id="a field of the wrong type"),
        pytest.param(f'{{"{KEY}": 1}}', id="a field that nobody knows"),
        pytest.param(f'{{"{KEY}": 1, "{KEY}": 2}}', id="a field twice"),
        pytest.param(f'{{"nodes": []}} {KEY}', id="text after the answer"),
        pytest.param(f'{{"nodes": "{ESCAPED}"}}', id="escaped as JSON"),
    ],
)
async def test_a_key_in_an_answer_is_in_neither_its_text_nor_the_errors_about_it(text: str) -> None:
    async with ScriptedServer(Reply(body=completion(text))) as server:
        answer = await ask(server, request_for(answer=Plan))

    with pytest.raises(ModelError) as caught:
        parse_answer(answer.text, Plan)

    assert "***" in answer.text
    assert KEY not in answer.text
    assert KEY not in caught.value.message


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(completion(None, refusal=f"no {KEY}"), id="refusal"),
        pytest.param(completion(None, refusal={"why": [KEY]}), id="refusal that is no text"),
    ],
)
async def test_a_key_in_a_refusal_is_hidden(body: dict[str, Any]) -> None:
    failure, _ = await fail(Reply(body=body))

    assert failure.code is ErrorCode.GUARDRAIL_BLOCKED
    assert "***" in failure.message
    assert KEY not in failure.message


async def test_a_key_in_the_names_that_a_server_gives_is_hidden() -> None:
    async with ScriptedServer(Reply(body=completion("Hello.", finish=KEY, model="m" * 90 + KEY))) as server:
        answer = await ask(server)

    assert answer.finish_reason == "***"
    assert answer.model == "m" * 90 + "***"


async def test_words_that_look_like_credentials_stay_in_an_answer() -> None:
    text = "Basic training for a bearer of rings; see https://a@b.c and sk-games."

    async with ScriptedServer(Reply(body=completion(text))) as server:
        answer = await ask(server)

    assert answer.text == text


async def test_a_key_that_is_a_short_word_does_not_mangle_answers() -> None:
    async with ScriptedServer(Reply(body=completion("A test of patience."))) as server:
        client = OpenAIModel(WorkerSettings(api_key="test", base_url=server.url))
        answer = await client.ask(request_for())
        await client.close()

    assert answer.text == "A test of patience."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    elsewhere = Reply(status, b"", headers={"location": f"/v1/chat/completions?key={KEY}"})

    failure, server = await fail(elsewhere, Reply(body=completion("Hello.")))

    assert failure.code is ErrorCode.TOOL_EXECUTION_FAILED
    assert "OPENAI_BASE_URL" in failure.message
    assert "/v1/chat/completions" in failure.message
    assert KEY not in failure.message
    assert len(server.requests) == 1


@pytest.mark.parametrize("count", [10**8 + 1, 10**30, 10**400], ids=["above the limit", "10^30", "10^400"])
async def test_an_absurd_count_of_tokens_is_replaced_by_an_estimate(count: int) -> None:
    usage = {
        "prompt_tokens": count,
        "completion_tokens": count,
        "prompt_tokens_details": {"cached_tokens": count},
        "completion_tokens_details": {"reasoning_tokens": count},
    }

    async with ScriptedServer(Reply(body=completion("Hello.", usage=usage))) as server:
        answer = await ask(server)

    assert answer.usage.estimated
    assert 0 < answer.usage.total_tokens < 100
    assert (answer.usage.cached_tokens, answer.usage.reasoning_tokens) == (0, 0)


@pytest.mark.parametrize("structured", [False, True], ids=["text", "structured"])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param({**completion("x"), "choices": [1]}, id="a choice that is a number"),
        pytest.param({**completion("x"), "choices": [[{"message": 1}]]}, id="a choice that is a list"),
        pytest.param({**completion("x"), "choices": [{"message": 1}]}, id="a message that is a number"),
        pytest.param({**completion("x"), "choices": [{"message": {"content": 1}}]}, id="a text that is a number"),
        pytest.param({**completion("x"), "choices": {"0": {}}}, id="choices by name"),
        pytest.param(b"[" * 100_000, id="lists in lists"),
        pytest.param(b'{"choices":' * 100_000, id="objects in objects"),
        pytest.param(b'{"choices":' + b"[" * 900 + b"]" * 900 + b"}", id="deep choices"),
        pytest.param(b'{"usage":' + b'{"a":' * 900 + b"1" + b"}" * 901, id="deep usage"),
        pytest.param(b'{"choices":[],"n":' + b"1" * 5000 + b"}", id="a number too long to read"),
    ],
)
async def test_an_answer_of_any_shape_is_an_invalid_output(body: Any, *, structured: bool) -> None:
    reply = Reply(body=body, headers=AS_JSON)

    failure, server = await fail(reply, request=request_for(answer=Plan if structured else None))

    assert failure.code is ErrorCode.INVALID_OUTPUT
    assert len(failure.message) <= 500
    assert len(server.requests) == 1


@pytest.mark.parametrize("depth", [90, 400, 5_000])
def test_a_structured_answer_that_is_nested_deeply_is_an_invalid_output(depth: int) -> None:
    value = "[" * depth + "]" * depth
    text = json.dumps({"nodes": "@"}).replace('"@"', value)

    with pytest.raises(ModelError) as caught:
        parse_answer(text, Plan)

    assert caught.value.code is ErrorCode.INVALID_OUTPUT


async def test_an_answer_that_a_lower_limit_of_the_server_cut_says_how_long_it_was() -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 20, "total_tokens": 31}

    failure, _ = await fail(Reply(body=completion('{"nodes": [', finish="length", usage=usage)))

    assert failure.code is ErrorCode.OUTPUT_TRUNCATED
    assert failure.message == (
        "the answer was cut at the limit of 50 output tokens, or at a lower one of the server: it counts 20"
    )


async def test_an_answer_that_the_limit_of_the_request_cut_names_that_limit() -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 50, "total_tokens": 61}

    failure, _ = await fail(Reply(body=completion('{"nodes": [', finish="length", usage=usage)))

    assert failure.message == "the answer was cut at the limit of 50 output tokens"


@pytest.mark.parametrize(
    ("secret", "text", "left"),
    [
        pytest.param("abc/def/1234", r'{"a": "abc\/def\/1234"}', '{"a": "***"}', id="escaped slash"),
        pytest.param('ab"c-1234567', r'{"a": "ab\"c-1234567"}', '{"a": "***"}', id="escaped quote"),
        pytest.param("pässwort-1234", r'{"a": "p\u00e4sswort-1234"}', '{"a": "***"}', id="beyond ASCII"),
        pytest.param("\U0001f511-1234567", r'{"a": "\uD83D\uDD11-1234567"}', '{"a": "***"}', id="surrogates"),
        pytest.param("sk-12345678", r'{"a": "\nsk-12345678\\"}', r'{"a": "\n***\\"}', id="between escapes"),
        pytest.param("", r"a\b", r"a\b", id="no secret"),
    ],
)
def test_a_secret_is_hidden_however_json_escapes_it(secret: str, text: str, left: str) -> None:
    assert hide(text, (secret,)) == left
