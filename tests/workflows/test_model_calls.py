"""Model calls of whole runs against a scripted HTTP server: one retry layer, cancels that close the connection."""

import asyncio

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from harness.errors import ErrorCode
from harness.run import RunStatus
from tests.replay.histories import fetch_chain
from tests.scripted_model import Reply, ScriptedServer, completion, error
from tests.workflows.model_runs import KEY, PLAN, PLANNED, REPORT, games_on, run, start

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOWN = Reply(500, error("server error"))
OVERFLOW = Reply(400, error("too long", code="context_length_exceeded"))
REFUSED = Reply(401, error(f"Incorrect API key provided: {KEY}"))


async def test_a_run_over_http_ends_with_its_report_and_the_servers_token_count(client: Client) -> None:
    result, server = await run(client, PLANNED, REPORT)

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert result.report == "Outer Wilds at 24.99 USD and Stardew Valley at 14.99 USD are calm."
    assert len(server.requests) == 2
    assert result.budget.tokens == 2 * 18
    assert not result.budget.cost_known


async def test_a_planner_that_gets_500_makes_exactly_three_requests(time_skipping: WorkflowEnvironment) -> None:
    result, server = await run(time_skipping.client, DOWN, max_replans=0)

    assert len(server.requests) == 3
    assert result.status is RunStatus.FAILED_PLANNING
    assert result.error_code is ErrorCode.PROVIDER_UNAVAILABLE


async def test_a_model_node_that_gets_500_makes_exactly_three_requests(time_skipping: WorkflowEnvironment) -> None:
    result, server = await run(time_skipping.client, PLANNED, DOWN, max_replans=0, max_run_retries=0)

    assert len(server.requests) == 1 + 3
    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.PROVIDER_UNAVAILABLE
    assert result.plan[-1].tries == 3


@pytest.mark.parametrize(
    ("reply", "code"),
    [(OVERFLOW, ErrorCode.CONTEXT_OVERFLOW), (REFUSED, ErrorCode.AUTHENTICATION)],
    ids=["context overflow", "wrong key"],
)
async def test_a_rejection_for_good_is_not_repeated(client: Client, reply: Reply, code: ErrorCode) -> None:
    result, server = await run(client, reply)

    assert len(server.requests) == 1
    assert result.status is RunStatus.FAILED_PLANNING
    assert result.error_code is code


ECHOES = {
    "an error": [REFUSED],
    "prose": [Reply(body=completion(f"Error: invalid api key {KEY} given"))],
    "a field": [Reply(body=completion(f'{{"nodes": "{KEY}"}}'))],
    "a refusal": [Reply(body=completion(None, refusal=f"no {KEY}"))],
    "names": [Reply(body=completion("no plan", finish=KEY, model=KEY))],
    "a plan": [Reply(body=completion(PLAN.model_dump_json().replace("calm", KEY))), REPORT],
    "a report": [PLANNED, Reply(body=completion(f"Play Outer Wilds; the key is {KEY}."))],
    "a redirect": [Reply(307, b"", headers={"location": f"/v1?key={KEY}"})],
}


@pytest.mark.parametrize("echo", ECHOES)
async def test_the_key_is_in_no_byte_of_history(client: Client, echo: str) -> None:
    async with ScriptedServer(*ECHOES[echo]) as server, games_on(client, server.url) as queue:
        handle = await start(client, queue, max_replans=1, max_run_retries=0)
        result = await asyncio.wait_for(handle.result(), 30)
        chain = await fetch_chain(client, handle)

    history = b"".join(event.SerializeToString() for part in chain for event in part.events)
    assert KEY.encode() not in history
    assert KEY not in result.model_dump_json()


async def test_a_run_survives_an_absurd_count_of_tokens_and_estimates_instead(client: Client) -> None:
    usage = {"prompt_tokens": 10**400, "completion_tokens": 7, "total_tokens": 10**400}
    absurd = Reply(body=PLANNED.body | {"usage": usage})

    result, _ = await run(client, absurd, REPORT)

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert result.budget.estimated
    assert result.budget.tokens < 10_000


@pytest.mark.parametrize("replies", [[], [PLANNED]], ids=["planning", "a model node"])
async def test_a_cancel_closes_the_connection_of_a_hanging_model_call(client: Client, replies: list[Reply]) -> None:
    async with ScriptedServer(*replies, Reply(is_hanging=True)) as server, games_on(client, server.url) as queue:
        handle = await start(client, queue)
        async with asyncio.timeout(10):
            while len(server.requests) <= len(replies):  # noqa: ASYNC110 - the server counts, it has no event
                await asyncio.sleep(0.02)
        await handle.cancel()
        await asyncio.wait_for(server.client_left.wait(), 10)
        result = await asyncio.wait_for(handle.result(), 10)
        requests = len(server.requests)

    assert result.status is RunStatus.CANCELLED
    assert requests == len(replies) + 1


async def test_a_report_with_an_invented_price_is_rejected_and_written_again(client: Client) -> None:
    invented = Reply(body=completion("Outer Wilds costs 9.99 USD."))
    result, server = await run(client, PLANNED, invented, invented, PLANNED, REPORT)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert "9.99" in result.attempts[0].error
    assert sum(1 for node_report in result.plan if node_report.reused) == 4
    assert "9.99" in str(server.requests[-1].body["messages"])
