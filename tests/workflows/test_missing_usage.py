"""Missing usage never crashes a run and never makes its calls free (PITFALLS A16)."""

from typing import Any

import pytest
from temporalio.client import Client

from harness.budget import Limits
from harness.run import RunStatus
from tests.scripted_model import Reply, completion
from tests.workflows.model_runs import PLANNED, REPORT, run

pytestmark = pytest.mark.asyncio(loop_scope="session")

ABSENT: dict[str, Any] = {
    "absent": "absent",
    "null": None,
    "zeros": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "null counts": {"prompt_tokens": None, "completion_tokens": None},
    "unknown names": {"in": 900, "out": 100},
}


@pytest.mark.parametrize("usage", ABSENT.values(), ids=ABSENT)
async def test_a_run_whose_server_counts_nothing_is_stopped_at_the_estimate(client: Client, usage: Any) -> None:
    useless = Reply(body=completion("no plan. " * 400, usage=usage))

    result, server = await run(client, useless, limits=Limits(max_tokens=14_000), max_replans=20)

    assert result.status in {RunStatus.BUDGET_EXHAUSTED, RunStatus.FAILED_PLANNING}
    assert 2 <= len(server.requests) <= 5
    assert result.budget.estimated
    assert result.budget.pressure > 0.6
    assert not result.budget.cost_known


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 2900, "output_tokens": 100},
        {"promptTokens": 2900, "completionTokens": 100},
        {"prompt_eval_count": 2900, "eval_count": 100},
    ],
    ids=lambda usage: next(iter(usage)),
)
async def test_foreign_field_names_are_counted_as_what_they_say(client: Client, usage: Any) -> None:
    useless = Reply(body=completion("no plan", usage=usage))

    result, server = await run(client, useless, PLANNED, REPORT)

    assert result.status is RunStatus.SUCCEEDED
    assert result.budget.tokens == 3000 + 18 + 18
    assert len(server.requests) == 3
    assert not result.budget.estimated


async def test_cached_and_reasoning_tokens_are_in_the_result(client: Client) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    thinking = Reply(body=PLANNED.body | {"usage": usage})
    written = Reply(body=REPORT.body | {"usage": usage})

    result, _ = await run(client, thinking, written)

    planned = next(event for event in result.trace if event.kind == "planning.finish")
    report = result.plan[-1].usage
    assert (planned.data["cached_tokens"], planned.data["reasoning_tokens"]) == (80, 40)
    assert (report.cached_tokens, report.reasoning_tokens, report.total_tokens) == (80, 40, 150)
    assert result.budget.tokens == 300
