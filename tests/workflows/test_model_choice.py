"""Which model a run asks: by role, by its own choice, and the fallback after a provider failed."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from activities.model.price_file import ModelPrice
from activities.settings import Endpoint, WorkerSettings
from harness.errors import ErrorCode
from harness.model_choice import ModelRole
from harness.run import RunResult, RunStatus
from tests.scripted_model import Reply, ScriptedServer, completion, error
from tests.workflows.model_runs import KEY, PLANNED, REPORT, games_on, run_on, start

pytestmark = pytest.mark.asyncio(loop_scope="session")

OTHER_KEY = "sk-canary-other-0123456789"
DOWN = Reply(503, error("busy"), headers={"retry-after": "25"})
PRICE = ModelPrice(input_usd_per_million=Decimal(1), output_usd_per_million=Decimal(10))
DEAR = ModelPrice(input_usd_per_million=Decimal(5), output_usd_per_million=Decimal(40))


def settings(url: str = "", **changes: Any) -> WorkerSettings:
    return replace(WorkerSettings(api_key=KEY, base_url=url, model="main"), **changes)


def models_of(server: ScriptedServer) -> list[str]:
    return [seen.body["model"] for seen in server.requests]


def planned(result: RunResult) -> dict[str, Any]:
    return next(event.data for event in result.trace if event.kind == "planning.finish")


async def test_each_role_asks_its_own_model_and_a_run_may_ask_for_others(client: Client) -> None:
    async with ScriptedServer(PLANNED, REPORT, PLANNED, REPORT) as server:
        own = settings(server.url, role_models={ModelRole.SYNTHESIS: "writer"})
        first = await run_on(client, server.url, own)
        chosen = {"by_role": {"planner": "thinker", "synthesis": "poet"}}
        second = await run_on(client, server.url, own, models=chosen)

    assert models_of(server) == ["main", "writer", "thinker", "poet"]
    assert (first.model, first.plan[-1].usage.model) == ("main", "writer")
    assert (second.model, second.plan[-1].usage.model) == ("thinker", "poet")
    assert planned(second)["answered_by"] == "scripted-1"
    assert planned(second)["finish_reason"] == "stop"


async def test_the_choice_of_a_run_survives_a_replan(client: Client) -> None:
    async with ScriptedServer(Reply(body=completion("no plan")), PLANNED, REPORT) as server:
        result = await run_on(client, server.url, settings(server.url), models={"by_role": {"planner": "thinker"}})

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert models_of(server) == ["thinker", "thinker", "main"]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        pytest.param(DOWN, ErrorCode.PROVIDER_UNAVAILABLE, id="unavailable"),
        pytest.param(Reply(429, error("slow down")), ErrorCode.RATE_LIMITED, id="throttled"),
        pytest.param(Reply(408, error("slow")), ErrorCode.TIMEOUT, id="timeout"),
        pytest.param(Reply(429, error("pay", code="insufficient_quota")), ErrorCode.QUOTA_EXHAUSTED, id="quota"),
        pytest.param(Reply(401, error("who?")), ErrorCode.AUTHENTICATION, id="key"),
        pytest.param(Reply(404, error("no such model")), ErrorCode.TOOL_EXECUTION_FAILED, id="model not found"),
    ],
)
async def test_a_provider_failure_is_followed_by_a_try_of_the_fallback_on_its_own_server(
    time_skipping: WorkflowEnvironment, failure: Reply, code: ErrorCode
) -> None:
    async with ScriptedServer(failure) as first, ScriptedServer(PLANNED, REPORT) as second:
        own = settings(first.url, fallback_model="spare", fallback=Endpoint(OTHER_KEY, second.url))
        result = await run_on(time_skipping.client, first.url, own)

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert (models_of(first), models_of(second)) == (["main", "main"], ["spare", "spare"])
    assert {seen.headers["authorization"] for seen in second.requests} == {f"Bearer {OTHER_KEY}"}
    assert (result.model, planned(result)["model"], result.plan[-1].usage.model) == ("spare", "spare", "spare")
    assert planned(result)["tries"] == 2
    [told] = planned(result)["failed_tries"]
    assert told.startswith(f"try 1: {code}: ")
    assert told.endswith("(then the fallback model was asked)")
    retry = next(event for event in result.trace if event.kind == "node.retry")
    assert (retry.data["errorCode"], retry.data["fallback"]) == (code, True)
    assert result.budget.elapsed.total_seconds() < 10  # the 25 s that the failed server asks for are not waited


async def test_a_fallback_that_fails_as_well_uses_up_the_same_tries(time_skipping: WorkflowEnvironment) -> None:
    async with ScriptedServer(DOWN) as server:
        own = settings(server.url, fallback_model="spare")
        result = await run_on(time_skipping.client, server.url, own, max_replans=0)

    assert models_of(server) == ["main", "spare", "spare"]
    assert result.error_code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_a_key_that_the_fallback_refuses_ends_the_run(time_skipping: WorkflowEnvironment) -> None:
    async with ScriptedServer(Reply(401, error("who?"))) as server:
        result = await run_on(time_skipping.client, server.url, settings(server.url), models={"fallback": "spare"})

    assert models_of(server) == ["main", "spare"]
    assert (result.status, result.error_code) == (RunStatus.FAILED_PLANNING, ErrorCode.AUTHENTICATION)


@pytest.mark.parametrize(
    "failure",
    [
        Reply(400, error("too big", code="context_length_exceeded")),
        Reply(400, error("bad")),
        Reply(body=completion(None, refusal="I will not.")),
    ],
    ids=["context overflow", "bad request", "refusal"],
)
async def test_what_another_provider_would_refuse_as_well_does_not_fall_back(client: Client, failure: Reply) -> None:
    async with ScriptedServer(failure) as server:
        result = await run_on(client, server.url, settings(server.url, fallback_model="spare"))

    assert models_of(server) == ["main"]
    assert result.status is RunStatus.FAILED_PLANNING


async def test_reservations_are_made_at_the_dearer_price_of_model_and_fallback(client: Client) -> None:
    async with ScriptedServer(PLANNED, Reply(is_hanging=True)) as server:
        prices = {"main": PRICE, "spare": DEAR}
        own = settings(server.url, fallback_model="spare", prices=prices)
        async with games_on(client, server.url, own) as queue:
            handle = await start(client, queue, limits={"max_cost_usd": "1000"})
            async with asyncio.timeout(10):
                while len(server.requests) < 2:  # noqa: ASYNC110 - the server counts, it has no event
                    await asyncio.sleep(0.02)
            await handle.cancel()
            result = await asyncio.wait_for(handle.result(), 20)

    reserved = [event.budget.reserved for event in result.trace if event.node_id == "report"]
    assert reserved[0].cost_usd == reserved[0].tokens * Decimal("0.00004")
    assert result.budget.cost_usd >= Decimal("0.000081")  # the plan: 11 tokens in, 7 out, at the price of main


async def test_a_worker_without_a_model_server_refuses_a_run_that_asks_for_a_model(client: Client) -> None:
    result = await run_on(client, "", WorkerSettings(), models={"by_role": {"planner": "gpt-4.1"}})

    assert (result.status, result.error_code) == (RunStatus.FAILED_PLANNING, ErrorCode.AUTHENTICATION)
    assert "asks for 'gpt-4.1'" in (result.error or "")
