"""Agents that write: whatever follows in the run, nothing is written twice."""

import asyncio
from collections.abc import Sequence

import pytest
from temporalio.client import Client

from activities.model.request import ModelError
from harness.errors import ErrorCode, ToolError
from harness.run import RunStatus
from harness.schedule import NodeStatus
from tests.agent_stage import agent, agent_stage, node_of, reported
from tests.builders import node
from tests.loop_stage import Move, call
from tests.replay.histories import failed_tasks, fetch_chain
from tests.temporal_server import dev_server

pytestmark = pytest.mark.asyncio(loop_scope="session")

MISSING = ToolError(ErrorCode.MISSING_INFO, "the period is missing; name one")


@pytest.mark.parametrize(
    "failing",
    [
        ModelError(ErrorCode.RATE_LIMITED, "429", retry_after_s=0.01),
        ModelError(ErrorCode.OUTPUT_TRUNCATED, "cut"),
        ModelError(ErrorCode.AUTHENTICATION, "401"),
    ],
    ids=lambda error: error.code,
)
async def test_an_agent_that_has_written_and_failed_is_not_run_again(client: Client, failing: ModelError) -> None:
    async with agent_stage(client, [reported(agent("send it"))], [call("write"), failing]) as (it, _):
        result = await it.run(allow_agents=True)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.UNCERTAIN_EFFECT
    assert node_of(result).error_code is ErrorCode.UNCERTAIN_EFFECT
    assert it.tools.count("write") == 1


async def test_another_agent_of_the_run_does_not_write_what_one_has_written(client: Client) -> None:
    plans = [reported(agent(goal), node("n_b", "b", deps=["search"])) for goal in ("send it", "see that it is sent")]
    steps: Sequence[Move] = [call("write"), "it is sent", call("write"), "it was sent before"]
    async with agent_stage(client, plans, steps, {"b": [MISSING, "found"]}) as (it, model):
        handle = await it.start(allow_agents=True)
        result = await asyncio.wait_for(handle.result(), 40)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert it.tools.count("write") == 1
    assert "was made before in this run" in model.steps.requests[3].messages[-1].text
    assert await failed_tasks(handle) == 0


async def test_an_agent_does_not_write_what_a_node_has_written(client: Client) -> None:
    first = reported(node("n_write", "write"), node("n_b", "b", deps=["n_write"]))
    second = reported(agent("see that it is written"))
    async with agent_stage(client, [first, second], [call("write"), "it was"], {"b": [MISSING]}) as (it, _):
        result = await it.run(allow_agents=True)

    assert result.status is RunStatus.SUCCEEDED
    assert it.tools.count("write") == 1


async def test_a_node_does_not_write_what_an_agent_has_written(client: Client) -> None:
    plans = [
        reported(agent("send it"), node("n_b", "b", deps=["search"])),
        reported(node("n_write", "write")),
        reported(node("n_a", "a")),
    ]
    async with agent_stage(client, plans, [call("write"), "it is sent"], {"b": [MISSING]}) as (it, _):
        result = await it.run(allow_agents=True)

    assert result.status is RunStatus.SUCCEEDED
    assert it.tools.count("write") == 1
    refused = next(each for each in result.attempts[1].nodes if each.node.id == "n_write")
    assert refused.status is NodeStatus.FAILED
    assert refused.error_code is ErrorCode.INVALID_ARGUMENT
    assert "an agent of this run has made this call of 'write'" in (refused.error or "")


async def test_an_agent_that_is_run_again_makes_its_calls_under_keys_of_its_own(client: Client) -> None:
    late = ModelError(ErrorCode.RATE_LIMITED, "429", retry_after_s=0.01)
    steps: Sequence[Move] = [call("b"), late, late, late, call("b"), "it is B"]
    async with agent_stage(client, [reported(agent("find it"))], steps) as (it, _):
        handle = await it.start(allow_agents=True)
        result = await asyncio.wait_for(handle.result(), 40)

    assert result.status is RunStatus.SUCCEEDED
    assert result.attempts == ()
    assert [each.key for each in it.tools.calls if each.tool == "b"] == [
        f"{handle.id}::search@0.0/1.1@0",
        f"{handle.id}::search@0.1/1.1@0",
    ]


async def test_what_agents_have_written_is_known_after_continuing_as_new_and_after_a_replan() -> None:
    ids = [f"n{number}" for number in range(25)]

    def drawn(goal: str, last: str) -> object:
        between = [node(each, "a", deps=["search"]) for each in ids]
        return reported(agent(goal), *between, agent("send it too", node_id="again", deps=(*ids,)), node(last, "b"))

    steps: Sequence[Move] = [call("write"), "it is sent"]

    async with (
        dev_server("limit.historyCount.suggestContinueAsNew=60") as environment,
        agent_stage(environment.client, [drawn("send it", "n_b"), drawn("send it now", "n_b2")], steps) as (it, model),
    ):
        model.steps.script = lambda place, _: call("write") if place % 2 == 0 else "it is sent"
        it.tools.outcomes["write_report"] = [MISSING, "told"]
        handle = await it.start(allow_agents=True, limits={"max_tokens": 1_000_000, "max_tool_calls": 500})
        result = await asyncio.wait_for(handle.result(), 60)
        chain = await fetch_chain(environment.client, handle)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert len(chain) > 2
    assert len(model.steps.requests) > 4
    assert it.tools.count("write") == 1
