"""Agents as nodes of a plan: a child workflow with a share of the budget."""

import asyncio
from typing import Any

import pytest
from temporalio.client import Client

from activities.model.request import ModelError, ModelRequest
from harness.budget import Limits
from harness.errors import ErrorCode
from harness.plan import Plan
from harness.run import RunStatus
from harness.schedule import NodeStatus
from tests.agent_stage import agent_stage
from tests.builders import literal, node, plan, result_of, results_of
from tests.loop_stage import call
from tests.replay.histories import failed_tasks

pytestmark = pytest.mark.asyncio(loop_scope="session")


def with_agent(goal: str = "find the cause") -> Plan:
    agent = node("search", "agent", deps=["n_a"], arguments={"goal": literal(goal), "given": result_of("n_a")})
    report = node("report", "write_report", deps=["search"], arguments={"sources": results_of("search")})
    return plan(node("n_a", "a"), agent, report)


async def test_an_agent_node_works_in_steps_and_its_answer_is_the_result_of_the_node(client: Client) -> None:
    async with agent_stage(client, [with_agent()], [call("b"), "the cause is B"]) as (it, model):
        handle = await it.start(allow_agents=True)
        result = await asyncio.wait_for(handle.result(), 40)

    assert result.status is RunStatus.SUCCEEDED
    assert "the cause is B" in (result.report or "")
    agent = next(n for n in result.plan if n.node.id == "search")
    assert agent.status is NodeStatus.DONE
    assert agent.usage.total_tokens == 300
    assert result.budget.tool_calls == 3, "a, b and the report: the agent itself is no call"
    assert result.budget.tokens == 450
    assert '"A"' in model.steps.requests[0].user, "it is given the result of the node before"
    assert await failed_tasks(handle) == 0


async def test_an_agent_gets_a_share_of_the_budget_and_no_more(client: Client) -> None:
    def steps(place: int, request: ModelRequest) -> Any:
        return "as far as I know" if request.must_answer else call("bcd"[place % 3])

    outcomes: dict[str, list[Any]] = {name: list(range(100)) for name in "bcd"}
    async with agent_stage(client, [with_agent()], steps, outcomes) as (it, _):
        result = await it.run(
            allow_agents=True,
            limits=Limits(max_tokens=100_000, max_tool_calls=8),
            max_replans=0,
            loop={"max_steps": 50, "no_progress_steps": 50},
        )

    assert result.status is RunStatus.FAILED_EXECUTION
    agent = next(n for n in result.plan if n.node.id == "search")
    assert agent.error_code is ErrorCode.INVALID_OUTPUT
    assert "BUDGET_EXHAUSTED" in (agent.error or "")
    assert "as far as I know" in (agent.error or "")
    assert result.budget.tool_calls <= 8
    assert sum(1 for each in it.tools.calls if each.tool in "bcd") == 6


async def test_an_agent_that_does_not_get_there_brings_another_plan(client: Client) -> None:
    def steps(place: int, request: ModelRequest) -> Any:
        return "cannot" if request.must_answer else call("b") if place < 4 else "it is B"

    async with agent_stage(client, [with_agent("first"), with_agent("second")], steps) as (it, _):
        result = await it.run(allow_agents=True)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    agent = next(n for n in result.attempts[0].nodes if n.node.id == "search")
    assert agent.error_code is ErrorCode.INVALID_OUTPUT
    assert "the agent ended with NO_PROGRESS" in (agent.error or "")
    assert "cannot" in (agent.error or "")


async def test_cancelling_the_run_cancels_its_agent(client: Client) -> None:
    started = asyncio.Event()

    async def hang(_: object) -> str:
        started.set()
        await asyncio.sleep(60)
        return "late"

    async with agent_stage(client, [with_agent()], [call("b")], {"b": [hang]}) as (it, _):
        handle = await it.start(allow_agents=True)
        await asyncio.wait_for(started.wait(), 20)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 20)
        child = client.get_workflow_handle(f"{handle.id}::search@0.0")
        ended = await asyncio.wait_for(child.result(), 20)

    assert result.status is RunStatus.CANCELLED
    agent = next(n for n in result.plan if n.node.id == "search")
    assert agent.status is NodeStatus.CANCELLED
    assert ended["status"] == "CANCELLED"


async def test_without_leave_a_plan_may_have_no_agent(client: Client) -> None:
    async with agent_stage(client, [with_agent()], ["never"]) as (it, model):
        result = await it.run(max_replans=0)

    assert result.status is RunStatus.FAILED_VALIDATION
    assert "'agent'" in (result.error or "")
    assert model.steps.requests == []


async def test_an_agent_whose_model_fails_passes_its_error_on(client: Client) -> None:
    async with agent_stage(client, [with_agent()], [ModelError(ErrorCode.AUTHENTICATION, "401")]) as (it, _):
        result = await it.run(allow_agents=True)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.AUTHENTICATION
