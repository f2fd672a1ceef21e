"""Model calls of agent loops against a scripted HTTP server, and results that are too large."""

import asyncio
import json
from itertools import count
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from harness.errors import ErrorCode
from harness.loop import LoopResult, LoopStatus
from harness.loop_carry import LoopInput
from harness.run import RunOptions
from tests.loop_stage import call, loop_stage
from tests.replay.histories import failed_tasks
from tests.scripted_model import Reply, ScriptedServer, completion, error
from tests.workflows.model_runs import KEY, games_on
from workflows.agent_loop import AgentLoopWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ids = count(1)
DOWN = Reply(500, error("server error"))
OVERFLOW = Reply(400, error("too long", code="context_length_exceeded"))
OVERFLOW_IN_WORDS = Reply(400, error("the request exceeds the available context size"))
REFUSED = Reply(401, error(f"Incorrect API key provided: {KEY}"))
ANSWER = Reply(body=completion("Stardew Valley costs 14.99 USD."))


def wants(*calls: tuple[str, dict[str, Any]]) -> Reply:
    """Return a reply with native tool calls."""
    told = [
        {"id": f"c{next(_ids)}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, arguments in calls
    ]
    return Reply(body=completion(None, finish="tool_calls", tool_calls=told))


PRICES = wants(("get_prices", {}))


async def run(client: Client, *replies: Reply, **options: Any) -> tuple[LoopResult, ScriptedServer]:
    async with ScriptedServer(*replies) as server, games_on(client, server.url) as queue:
        given = LoopInput(goal="a calm game", options=RunOptions.model_validate(options))
        handle = await client.start_workflow(AgentLoopWorkflow.run, given, id=f"loop-{queue}", task_queue=queue)
        return await asyncio.wait_for(handle.result(), 60), server


async def test_a_loop_over_http_calls_tools_natively_and_answers(client: Client) -> None:
    result, server = await run(client, PRICES, ANSWER)

    assert result.status is LoopStatus.COMPLETED, result.error
    assert result.report == "Stardew Valley costs 14.99 USD."
    assert result.budget.tokens == 2 * 18
    first, second = (seen.body for seen in server.requests)
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"get_prices", "get_games", "remember", "recall"}
    assert [message["role"] for message in second["messages"]][-2:] == ["assistant", "tool"]
    assert "14.99" in second["messages"][-1]["content"]


async def test_a_step_that_gets_500_makes_exactly_three_requests(time_skipping: WorkflowEnvironment) -> None:
    result, server = await run(time_skipping.client, DOWN)

    assert len(server.requests) == 3
    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_a_rejection_for_good_is_not_repeated(client: Client) -> None:
    result, server = await run(client, REFUSED)

    assert len(server.requests) == 1
    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.AUTHENTICATION
    assert KEY not in result.model_dump_json()


@pytest.mark.parametrize("overflow", [OVERFLOW, OVERFLOW_IN_WORDS], ids=["by code", "by words"])
async def test_a_first_prompt_that_is_too_long_is_asked_once(client: Client, overflow: Reply) -> None:
    result, server = await run(client, overflow)

    assert len(server.requests) == 1
    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.CONTEXT_OVERFLOW


async def test_a_later_prompt_that_is_too_long_is_asked_once_more_and_smaller(client: Client) -> None:
    facts, games = wants(("get_genre_facts", {})), wants(("get_games", {}))
    result, server = await run(client, PRICES, facts, games, OVERFLOW, OVERFLOW)

    steps = [seen for seen in server.requests if "tools" in seen.body]
    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.CONTEXT_OVERFLOW
    assert len(steps) == 5
    assert len(json.dumps(steps[4].body["messages"])) < len(json.dumps(steps[3].body["messages"]))
    assert result.report
    assert len(result.steps) == 3


async def test_a_cancel_closes_the_connection_of_the_step(client: Client) -> None:
    async with ScriptedServer(Reply(is_hanging=True)) as server, games_on(client, server.url) as queue:
        given = LoopInput(goal="a calm game")
        handle = await client.start_workflow(AgentLoopWorkflow.run, given, id=f"loop-{queue}", task_queue=queue)
        await asyncio.wait_for(server.request_seen.wait(), 20)
        await handle.cancel()
        await asyncio.wait_for(server.client_left.wait(), 10)
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is LoopStatus.CANCELLED
    assert len(server.requests) == 1


async def test_a_result_over_the_limit_fails_its_call_once_and_is_told_to_the_model(client: Client) -> None:
    async with loop_stage(client, [call("a"), "It is too large."], outcomes={"a": ["x" * 3_000_000]}) as it:
        handle = await it.start(max_result_bytes=1_000_000)
        result = await asyncio.wait_for(handle.result(), 15)

    assert result.status is LoopStatus.COMPLETED
    assert it.tools.count("a") == 1
    (step,) = result.steps
    assert step.error_code is ErrorCode.PAYLOAD_TOO_LARGE
    assert "'1.1'" in (step.error or "")
    assert "1,000,000" in (step.error or "")
    assert "3,000,002" in (step.error or "")
    assert await failed_tasks(handle) == 0


async def test_a_very_large_result_travels_by_reference_and_is_shown_cut(client: Client) -> None:
    async with loop_stage(client, [call("a"), "seen"], outcomes={"a": ["y" * 3_000_000]}) as it:
        handle = await it.start()
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is LoopStatus.COMPLETED
    (step,) = result.steps
    assert step.artifact is not None
    assert step.artifact.size == 3_000_002
    assert len(it.model.requests[-1].messages[-1].text) < 20_000
    assert await failed_tasks(handle) == 0
