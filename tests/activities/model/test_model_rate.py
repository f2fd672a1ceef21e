"""Model calls keep the rate that the worker is set to, and leave a server alone for as long as it asks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from time import monotonic

import pytest

from activities.model.client import OpenAIModel
from activities.model.request import ModelError
from activities.settings import SettingsError, WorkerSettings
from harness.errors import ErrorCode
from tests.activities.model.asking import KEY, request_for
from tests.scripted_model import Reply, ScriptedServer, completion

ANSWER = Reply(200, completion("hello"))


def throttled(seconds: str) -> Reply:
    return Reply(429, {"error": {"message": "slow down"}}, headers={"retry-after": seconds})


@asynccontextmanager
async def model_of(
    server: ScriptedServer, *, fallback: str = "", rate: float | None = None
) -> AsyncIterator[OpenAIModel]:
    settings = WorkerSettings(api_key=KEY, base_url=server.url, fallback_model=fallback, model_rate=rate)
    model = OpenAIModel(settings)
    try:
        yield model
    finally:
        await model.close()


async def test_a_throttled_server_is_left_alone_for_as_long_as_it_asks() -> None:
    async with ScriptedServer(throttled("1"), ANSWER) as server, model_of(server) as model:
        with pytest.raises(ModelError):
            await model.ask(request_for())
        told = monotonic()
        await model.ask(request_for())

    assert monotonic() - told >= 0.95
    assert len(server.requests) == 2


async def test_a_call_that_cannot_wait_that_long_is_not_sent_and_falls_back() -> None:
    async with ScriptedServer(throttled("20"), ANSWER) as server, model_of(server, fallback="other") as model:
        with pytest.raises(ModelError):
            await model.ask(request_for())
        with pytest.raises(ModelError) as caught:
            await model.ask(request_for(timeout=timedelta(seconds=2)))

    assert len(server.requests) == 1
    assert caught.value.code is ErrorCode.RATE_LIMITED
    assert caught.value.falls_back
    assert 19 < (caught.value.retry_after_s or 0) <= 20
    assert KEY not in caught.value.message


async def test_requests_are_held_apart_by_the_rate() -> None:
    async with ScriptedServer(ANSWER) as server, model_of(server, rate=5) as model:
        started = monotonic()
        await asyncio.gather(*(model.ask(request_for()) for _ in range(3)))

    assert monotonic() - started >= 0.4
    assert len(server.requests) == 3


@pytest.mark.parametrize(("text", "rate"), [("", None), ("5", 5.0), (" 0.5 ", 0.5), ("10000", 10_000.0)])
def test_the_rate_is_read_from_the_environment(text: str, rate: float | None) -> None:
    assert WorkerSettings.from_environment({"WHIPPLETREE_MODEL_RATE": text}).model_rate == rate


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "10001", "five"])
def test_a_rate_that_cannot_work_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="WHIPPLETREE_MODEL_RATE must be a number of requests a second"):
        WorkerSettings.from_environment({"WHIPPLETREE_MODEL_RATE": text})
