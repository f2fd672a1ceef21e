"""What a real small model taught (SmolLM2, 135 million parameters): its answers again, from the scripted server."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from temporalio.client import Client

from harness.budget import Limits
from harness.errors import ErrorCode
from harness.run import RunStatus
from harness.trace import TraceKind
from tests.builders import node, plan
from tests.scripted_model import Reply, completion
from tests.temporal_server import time_skipping_server
from tests.workflows.model_runs import PLANNED, REPORT, run

pytestmark = pytest.mark.asyncio(loop_scope="module")

INVENTED = "Dreamweaver 2.1.2.22.15.08.28.0.vrsc1.crc160,"
EMPTY = Reply(body=completion('{"nodes": [\n\n]}'))
INVENTING = Reply(
    body=completion(plan(node("100884d4115f1f51", INVENTED), node("1021825fca22b2f2", INVENTED * 20)).model_dump_json())
)
CUT_BY_THE_SERVER = Reply(
    body=completion(
        '{"nodes": [{"id": "' + "1" * 900,
        finish="length",
        usage={"prompt_tokens": 1198, "completion_tokens": 600, "total_tokens": 1798},
    )
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def skipping() -> AsyncIterator[Client]:
    async with time_skipping_server() as environment:
        yield environment.client


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        pytest.param(EMPTY, "the plan is empty", id="an empty plan"),
        pytest.param(INVENTING, f"unknown tool '{INVENTED}'", id="tools that do not exist"),
        pytest.param(CUT_BY_THE_SERVER, "a lower one of the server: it counts 600", id="a lower limit of the server"),
    ],
)
async def test_a_bad_plan_is_told_to_the_next_planning_and_made_good(skipping: Client, reply: Reply, told: str) -> None:
    result, server = await run(skipping, reply, PLANNED, REPORT, max_replans=1)

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert told in server.requests[1].body["messages"][-1]["content"]
    assert result.budget.tokens == sum(sent.body["usage"]["total_tokens"] for sent in (reply, PLANNED, REPORT))


@pytest.mark.parametrize("reply", [EMPTY, INVENTING], ids=["an empty plan", "tools that do not exist"])
async def test_a_model_that_plans_as_badly_again_ends_the_run_and_the_trace_says_why(
    skipping: Client, reply: Reply
) -> None:
    result, server = await run(skipping, reply, max_replans=1)

    decided = [event for event in result.trace if event.kind == TraceKind.RECOVERY_DECIDE]
    assert result.status is RunStatus.FAILED_VALIDATION
    assert len(server.requests) == 2
    assert "1 of 1 replans are used" in (decided[-1].message or "")
    assert result.trace[-1].message == result.error
    assert result.budget.tool_calls == 0


async def test_a_model_slower_than_the_wall_clock_ends_the_run_on_time_and_is_paid_by_estimate(client: Client) -> None:
    limit = timedelta(seconds=2)

    result, server = await run(client, Reply(is_hanging=True), limits=Limits(max_wall_clock=limit))

    planned = next(event for event in result.trace if event.kind == TraceKind.PLANNING_FINISH)
    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert result.error == "budget exhausted while planning: the wall-clock limit is reached"
    assert planned.data["errorCode"] == ErrorCode.TIMEOUT
    assert limit <= result.budget.elapsed < limit + timedelta(seconds=2)
    assert len(server.requests) == 1
    assert result.budget.estimated
    assert result.budget.tokens > 0
