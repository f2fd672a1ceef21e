"""What the calls of an agent loop hold of the budget, and what they give back."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client

from activities.artifact_place import find_place
from activities.artifacts import ArtifactStore
from activities.model.request import ModelError, ModelRequest
from activities.toolkit import ToolContext
from harness.budget import NOTHING
from harness.errors import ErrorCode, ToolError
from harness.loop import LoopResult, LoopStatus
from harness.model_choice import ModelRole
from harness.trace import TraceKind
from tests.loop_stage import call, loop_stage
from tests.stage import ScriptedTools

pytestmark = pytest.mark.asyncio(loop_scope="session")

REMEMBERED = ("remember", {"key": "port", "value": "8443"})


def limits(**more: object) -> dict[str, object]:
    """Return limits of which those named are the only narrow ones."""
    return {"max_tokens": 1_000_000, "max_tool_calls": 1000, "max_cost_usd": 100} | more


def ends(result: LoopResult) -> list[tuple[str, ErrorCode | None]]:
    """Return what came of each call, in the order of the model."""
    return sorted((step.call, step.error_code) for step in result.steps)


async def test_parallel_calls_that_the_budget_can_pay_are_all_made(client: Client) -> None:
    async with loop_stage(client, [[("a", {}), ("b", {}), ("c", {})], "It is A, B and C."]) as it:
        result = await it.run(limits=limits(max_tool_calls=3))

    assert ends(result) == [("1.1", None), ("1.2", None), ("1.3", None)]
    assert result.status is LoopStatus.COMPLETED
    assert result.budget.tool_calls == 3


async def test_calls_of_the_memory_are_paid_before_further_tries_of_others(client: Client) -> None:
    async with loop_stage(client, [[("a", {}), REMEMBERED, ("b", {})], "done"]) as it:
        result = await it.run(limits=limits(max_tool_calls=3))

    assert ends(result) == [("1.1", None), ("1.2", None), ("1.3", None)]
    assert result.status is LoopStatus.COMPLETED


async def test_of_too_many_calls_the_first_ones_are_made(client: Client) -> None:
    async with loop_stage(client, [[("a", {}), REMEMBERED, ("b", {})], "so far: A"]) as it:
        result = await it.run(limits=limits(max_tool_calls=2))

    assert ends(result) == [("1.1", None), ("1.2", None), ("1.3", ErrorCode.QUOTA_EXHAUSTED)]
    assert result.status is LoopStatus.BUDGET_EXHAUSTED
    assert result.report == "so far: A"


@pytest.mark.parametrize("at_once", [1, 8])
async def test_a_call_whose_tokens_are_reserved_for_further_tries_of_another_waits_for_them(
    client: Client, at_once: int
) -> None:
    def thinking(tools: ScriptedTools) -> Any:
        return tools.toolkit(max_model_tokens=10_000)

    async with loop_stage(client, [[("a", {}), ("b", {})], "A and B"], toolkit=thinking) as it:
        result = await it.run(limits=limits(max_tokens=30_250), max_concurrency=at_once)

    assert ends(result) == [("1.1", None), ("1.2", None)]
    assert result.status is LoopStatus.COMPLETED
    assert result.budget.reserved == NOTHING


@pytest.mark.parametrize("at_once", [1, 8])
async def test_a_call_that_waited_for_tokens_in_vain_is_refused(client: Client, at_once: int) -> None:
    def thinking(tools: ScriptedTools) -> Any:
        return tools.toolkit(max_model_tokens=10_000)

    async def use_all(context: ToolContext) -> str:
        request = ModelRequest(ModelRole.SYNTHESIS, "Be brief.", "Go on.", 100, timedelta(seconds=5))
        with suppress(ModelError):
            while True:
                await context.model.ask(request)
        return "A"

    script = [[("a", {}), ("b", {})], "so far: A"]
    async with loop_stage(client, script, outcomes={"a": [use_all]}, toolkit=thinking) as it:
        result = await it.run(limits=limits(max_tokens=5000), max_concurrency=at_once, loop={"step_output_tokens": 200})

    assert ends(result) == [("1.1", None), ("1.2", ErrorCode.QUOTA_EXHAUSTED)]
    assert result.status is LoopStatus.BUDGET_EXHAUSTED
    assert "A" in (result.report or "")
    assert result.budget.reserved == NOTHING


class ForgetfulStore(ArtifactStore):
    """A store that does not take facts at once."""

    failures = 2

    async def put(self, owner: Any, data: bytes) -> str:
        if data.startswith(b'{"port"') and self.failures:
            self.failures -= 1
            raise ToolError(ErrorCode.TIMEOUT, "no answer from the store", retry_after_s=0.05)
        return await super().put(owner, data)


async def test_every_try_of_a_call_of_the_memory_is_charged_and_told(client: Client) -> None:
    store = ForgetfulStore(find_place("memory://"))
    async with loop_stage(client, [[REMEMBERED], "done"], store=store) as it:
        result = await it.run()

    assert [(step.tool, step.success, step.tries) for step in result.steps] == [("remember", True, 3)]
    assert result.budget.tool_calls == 3
    assert result.budget.reserved == NOTHING


async def test_near_a_limit_an_answer_is_not_corrected(client: Client) -> None:
    async with loop_stage(client, [[("a", {})] * 9, "It costs 98,765 EUR.", "It is cheap."]) as it:
        result = await it.run(limits=limits(max_tool_calls=10))

    assert result.status is LoopStatus.COMPLETED
    assert result.report == "It costs 98,765 EUR."
    assert len(it.model.requests) == 2
    assert result.ungrounded


async def test_near_a_limit_older_steps_are_summarised_without_a_model(client: Client) -> None:
    def script(place: int, _: Any) -> Any:
        return [("a", {})] * 9 if place == 0 else call(f"missing_{place}", why="word " * 400) if place < 9 else "done"

    async with loop_stage(client, script) as it:
        result = await it.run(
            limits=limits(max_tool_calls=10),
            loop={"soft_context_tokens": 1500, "hard_context_tokens": 1600, "no_progress_steps": 50},
        )

    summaries = [event for event in result.trace if event.kind is TraceKind.CONTEXT_SUMMARISE]
    assert result.status is LoopStatus.COMPLETED
    assert it.model.summaries == []
    assert [event.status for event in summaries] == ["DONE"] * len(summaries)
    assert summaries
    assert {event.data["tokens"] for event in summaries} == {0}
    assert result.budget.tokens == 150 * len(it.model.requests)
