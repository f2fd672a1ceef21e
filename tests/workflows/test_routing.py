"""Of many tools the planner is shown few: picked by a routing call, or by rule where there is no usable answer."""

import asyncio
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from temporalio.client import Client

from activities.model.request import ModelError, ModelRequest
from activities.prompts import unfenced
from activities.toolkit import Toolkit
from harness.budget import Limits
from harness.errors import ErrorCode
from harness.model_choice import ModelRole
from harness.routed_catalog import ToolPick
from harness.run import RunOptions, RunResult, RunStatus
from harness.trace import TraceKind
from tests.replay.histories import fetch_chain
from tests.stage import Answer, ScriptedTools, fan_in, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAMES = ("clock", "weather", *(f"t{number}" for number in range(26)))


DEFAULT = {"max_tools_shown": RunOptions().max_tools_shown}


def many(tools: ScriptedTools) -> Toolkit:
    """Return 30 tools: 28 that read, one that writes, and the report."""
    return tools.toolkit(NAMES)


def shown_to(request: ModelRequest) -> list[str]:
    return [json.loads(line)["name"] for line in unfenced(request.user)["catalog"].split("\n")]


def routing_data(result: RunResult) -> dict[str, Any]:
    return next(event.data for event in result.trace if event.kind is TraceKind.ROUTING_FINISH)


def picking(*names: str) -> str:
    return ToolPick(tools=names).model_dump_json()


async def test_of_thirty_tools_a_routing_call_picks_those_that_the_planner_sees(client: Client) -> None:
    async with stage(client, picking("weather", "rocket", "clock"), fan_in("clock"), toolkit=many) as it:
        handle = await it.start("What time is it?", **DEFAULT)
        result = await asyncio.wait_for(handle.result(), 30)
        (history,) = await fetch_chain(client, handle)

    asked, planned = it.model.requests
    scheduled = [event for event in history.events if event.HasField("activity_task_scheduled_event_attributes")]
    summary = json.loads(scheduled[1].user_metadata.summary.data)
    data = routing_data(result)
    assert result.status is RunStatus.SUCCEEDED
    assert asked.role is ModelRole.PLANNER
    assert "clock" in unfenced(asked.user)["tools"]
    assert "write_report" not in unfenced(asked.user)["tools"]
    assert shown_to(planned) == ["clock", "weather", "write_report"]
    assert data["shown"] == ["clock", "weather", "write_report"]
    assert data["left_out"] == {"count": 27, "first": [f"t{number}" for number in range(20)]}
    assert (data["by"], data["unknown"], data["tokens"]) == ("model", ["rocket"], 150)
    assert summary == "route · attempt 0 · at most 7 of 29 tools"


async def test_a_routing_call_is_paid_for_and_is_no_tool_call(client: Client) -> None:
    async with stage(client, picking("clock"), fan_in("clock"), toolkit=many) as it:
        result = await it.run(**DEFAULT)

    assert (result.budget.tokens, result.budget.tool_calls) == (300, 2)
    assert result.budget.cost_usd == Decimal("0.00030")
    assert result.budget.reserved.tokens == 0


async def test_an_answer_with_too_many_names_is_cut_to_the_default_of_eight_tools(client: Client) -> None:
    async with stage(client, picking(*NAMES), fan_in("clock"), toolkit=many) as it:
        result = await it.run(**DEFAULT)

    assert result.status is RunStatus.SUCCEEDED
    assert DEFAULT == {"max_tools_shown": 8}
    assert shown_to(it.model.requests[1]) == [*NAMES[:7], "write_report"]


async def test_few_tools_are_all_shown_without_a_call(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await it.run(max_tools_shown=6)

    assert TraceKind.ROUTING_FINISH not in [event.kind for event in result.trace]
    assert len(it.model.requests) == 1


async def test_withheld_tools_are_not_offered_and_do_not_count(client: Client) -> None:
    async with stage(client, fan_in("clock"), toolkit=many) as it:
        result = await it.run(**DEFAULT, allow=("clock", "weather"))

    assert result.status is RunStatus.SUCCEEDED
    assert len(it.model.requests) == 1
    assert shown_to(it.model.requests[0]) == ["clock", "weather", "write_report"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param("I would look at the clock.", "INVALID_OUTPUT", id="prose"),
        pytest.param(picking(), "the answer names no tool", id="nothing"),
        pytest.param(picking("rocket"), "the answer names no tool", id="unknown names only"),
        pytest.param('{"tools": "clock"}', "INVALID_OUTPUT", id="another shape"),
        pytest.param(ModelError(ErrorCode.GUARDRAIL_BLOCKED, "no"), "GUARDRAIL_BLOCKED: no", id="a refusal"),
        pytest.param(RuntimeError("boom"), "RuntimeError: boom", id="a bug"),
    ],
)
async def test_without_a_usable_answer_the_rule_picks(client: Client, answer: Answer, why: str) -> None:
    async with stage(client, answer, fan_in("clock"), toolkit=many) as it:
        result = await it.run("look at the clock", **DEFAULT)

    data = routing_data(result)
    assert result.status is RunStatus.SUCCEEDED
    assert shown_to(it.model.requests[1]) == ["clock", "write_report"]
    assert data["by"] == "rule"
    assert why in data["why"]


async def test_a_transient_failure_of_the_routing_call_is_retried(client: Client) -> None:
    busy = ModelError(ErrorCode.PROVIDER_UNAVAILABLE, "busy", retry_after_s=0.01)

    async with stage(client, busy, picking("weather"), fan_in("weather"), toolkit=many) as it:
        result = await it.run(**DEFAULT)

    data = routing_data(result)
    assert result.status is RunStatus.SUCCEEDED
    assert (data["by"], data["tries"]) == ("model", 2)
    assert data["failed_tries"] == ["try 1: PROVIDER_UNAVAILABLE: busy"]


async def test_routing_leaves_the_tokens_that_the_planning_needs(client: Client) -> None:
    async with stage(client, fan_in("clock"), toolkit=many) as it:
        result = await it.run("look at the clock", **DEFAULT, limits=Limits(max_tokens=2000))

    assert len(it.model.requests) == 1
    assert routing_data(result)["by"] == "rule"
    assert "does not fit in the budget" in routing_data(result)["why"]
    assert shown_to(it.model.requests[0]) == ["clock", "write_report"]
    assert result.budget.reserved.tokens == 0


async def test_a_tool_that_was_left_out_but_named_is_shown_to_the_next_planner(client: Client) -> None:
    script = (picking("clock"), fan_in("t9"), picking("weather"), fan_in("t9"))

    async with stage(client, *script, toolkit=many) as it:
        result = await it.run(**DEFAULT)

    assert result.status is RunStatus.SUCCEEDED
    assert "tool 't9' was left out" in result.attempts[0].error
    assert "tool 't9' was left out" in unfenced(it.model.requests[2].user)["failures"]
    assert shown_to(it.model.requests[3]) == ["weather", "t9", "write_report"]
    assert it.tools.count("t9") == 1


async def test_the_choice_of_models_holds_for_the_routing_call(client: Client) -> None:
    async with stage(client, picking("clock"), fan_in("clock"), toolkit=many) as it:
        await it.run(**DEFAULT, models={"by_role": {"planner": "thinker"}})

    assert [request.models.by_role for request in it.model.requests] == [{ModelRole.PLANNER: "thinker"}] * 2


async def test_a_routing_call_that_hangs_ends_with_the_wall_clock(client: Client) -> None:
    async with stage(client, fan_in("clock"), toolkit=many) as it:
        it.model.hangs = True
        result = await it.run(**DEFAULT, limits=Limits(max_wall_clock=timedelta(seconds=1)))

    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert result.error == "budget exhausted before planning: the wall-clock limit is reached"
    assert len(it.model.requests) == 1
    assert result.budget.elapsed < timedelta(seconds=6)
