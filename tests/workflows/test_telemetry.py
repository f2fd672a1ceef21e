"""Spans of whole runs on the real dev server: the tree, what is on it, and once each whatever is replayed."""

import asyncio
from collections import Counter

import pytest
from temporalio.client import Client, WorkflowFailureError

from activities.toolkit import ToolContext
from harness.errors import ErrorCode, ToolError
from harness.run import RunStatus
from tests.builders import node, plan
from tests.scripted_model import Reply
from tests.stage import fan_in
from tests.workflows.span_rig import KEY, NINE, TOKENS_PER_CALL, ask, rig
from tests.workflows.span_tree import collecting
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

TREE_OF_TEN = [
    "run",
    "  attempt 0",
    "    chat scripted-1",
    *(line for name in NINE for line in (f"    node n_{name}", "      chat scripted-1")),
    "    node report",
]


async def test_the_spans_of_a_run_are_run_attempt_node_and_model_call(client: Client) -> None:
    with collecting() as collected:
        async with rig(client, "tree", fan_in(*NINE), plugins=collected.plugins) as it:
            result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert collected.tree() == TREE_OF_TEN
    assert len({span.context.trace_id for span in collected.spans}) == 1


async def test_spans_say_what_was_done_and_what_it_cost(client: Client) -> None:
    with collecting() as collected:
        async with rig(client, "attributes", fan_in(*NINE), plugins=collected.plugins) as it:
            result = await it.run()

    (run,), (attempt,), (one,) = (collected.named(name) for name in ("run", "attempt 0", "node n_a"))
    chats = collected.named("chat scripted-1")
    used = [s.attributes["gen_ai.usage.input_tokens"] + s.attributes["gen_ai.usage.output_tokens"] for s in chats]
    assert sum(used) == result.budget.tokens == 10 * TOKENS_PER_CALL
    assert {s.attributes["gen_ai.response.model"] for s in chats} == {"scripted-1"}
    assert dict(one.attributes) == {
        "whippletree.run_id": "run-attributes",
        "whippletree.attempt": 0,
        "whippletree.node_id": "n_a",
        "whippletree.status": "DONE",
        "whippletree.tries": 1,
        "whippletree.tokens": TOKENS_PER_CALL,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "a",
    }
    assert dict(attempt.attributes) == {
        "whippletree.run_id": "run-attributes",
        "whippletree.attempt": 0,
        "whippletree.status": "SUCCEEDED",
    }
    assert dict(run.attributes) == {
        "whippletree.run_id": "run-attributes",
        "whippletree.toolkit": "stage",
        "whippletree.status": "SUCCEEDED",
        "whippletree.attempts": 1,
        "whippletree.tokens": 10 * TOKENS_PER_CALL,
        "whippletree.tool_calls": 10,
    }
    assert run.start_time <= attempt.start_time <= one.start_time < one.end_time <= attempt.end_time <= run.end_time


@pytest.mark.parametrize("cached", [1000, 0], ids=["cache", "no-cache"])
async def test_a_span_comes_out_once_whatever_is_replayed(client: Client, cached: int) -> None:
    is_asked, may_go_on = asyncio.Event(), asyncio.Event()

    async def wait(context: ToolContext) -> str:
        is_asked.set()
        await may_go_on.wait()
        return await ask(context)

    with collecting() as collected:
        async with rig(
            client, f"once-{cached}", fan_in(*NINE), plugins=collected.plugins, cached=cached, e=[wait]
        ) as it:
            handle = await it.start()
            await asyncio.wait_for(is_asked.wait(), 30)
            for _ in range(5):
                await handle.query(OrchestratorWorkflow.state)
            may_go_on.set()
            result = await asyncio.wait_for(handle.result(), 60)
            for _ in range(5):
                await handle.query(OrchestratorWorkflow.state)

    assert collected.tree() == TREE_OF_TEN
    assert len(set(collected.ids)) == len(collected.ids)
    tokens = sum(span.attributes["whippletree.tokens"] for span in collected.spans if span.name.startswith("node"))
    assert tokens + TOKENS_PER_CALL == result.budget.tokens


@pytest.mark.parametrize("cached", [1000, 0], ids=["cache", "no-cache"])
async def test_the_attempts_of_a_chain_of_workflow_runs_share_one_run_span(client: Client, cached: int) -> None:
    missing = ToolError(ErrorCode.MISSING_INFO, "canary failure")
    queue = f"chain-{cached}"
    with collecting() as collected:
        async with rig(
            client,
            queue,
            plan(node("x", "a")),
            fan_in("b"),
            fan_in("c"),
            plugins=collected.plugins,
            cached=cached,
            b=[missing],
        ) as it:
            result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert collected.tree() == [
        "run",
        "  attempt 0",
        "    chat scripted-1",
        "  attempt 1",
        "    chat scripted-1",
        "    node n_b",
        "  attempt 2",
        "    chat scripted-1",
        "    node n_c",
        "      chat scripted-1",
        "    node report",
    ]
    assert Counter(collected.ids).most_common(1)[0][1] == 1
    assert len({span.context.trace_id for span in collected.spans}) == 1
    (run,), (first,), (last,) = (collected.named(name) for name in ("run", "attempt 0", "attempt 2"))
    assert (first.attributes["whippletree.status"], first.attributes["error.type"]) == ("REPLANNED", "VALIDATION")
    assert run.attributes["whippletree.attempts"] == 3
    assert run.start_time <= first.start_time
    assert last.end_time <= run.end_time
    (failed,) = collected.named("node n_b")
    assert (failed.attributes["whippletree.status"], failed.attributes["error.type"]) == ("FAILED", "MISSING_INFO")


async def test_every_try_of_a_node_has_a_model_span(client: Client) -> None:
    with collecting() as collected:
        async with rig(client, "tries", fan_in("a"), Reply(503), plugins=collected.plugins) as it:
            result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert collected.tree() == [
        "run",
        "  attempt 0",
        "    chat scripted-1",
        "    node n_a",
        "      chat scripted-1",
        "      chat scripted-1",
        "    node report",
    ]
    (node_span,) = collected.named("node n_a")
    assert node_span.attributes["whippletree.tries"] == 2
    chats = [s for s in collected.named("chat scripted-1") if s.parent.span_id == node_span.context.span_id]
    assert [s.attributes.get("error.type") for s in chats] == ["PROVIDER_UNAVAILABLE", None]


async def test_a_node_that_runs_again_has_a_span_for_each_execution(client: Client) -> None:
    late = ToolError(ErrorCode.PROVIDER_UNAVAILABLE, "canary", retry_after_s=0.01)
    with collecting() as collected:
        async with rig(client, "again", fan_in("a"), plugins=collected.plugins, a=[late, late, late, ask]) as it:
            await it.run(retry_wait=0.01)

    spans = collected.named("node n_a")
    assert [s.attributes["whippletree.tries"] for s in spans] == [3, 1]
    assert [s.attributes["whippletree.tokens"] for s in spans] == [0, TOKENS_PER_CALL]


async def test_a_cancelled_run_ends_its_spans(client: Client) -> None:
    is_running = asyncio.Event()

    async def wait(_: ToolContext) -> str:
        is_running.set()
        await asyncio.Event().wait()
        return "never"

    with collecting() as collected:
        async with rig(client, "cancelled", fan_in("a"), plugins=collected.plugins, a=[wait]) as it:
            handle = await it.start()
            await asyncio.wait_for(is_running.wait(), 30)
            await handle.cancel()
            result = await asyncio.wait_for(handle.result(), 60)

    assert result.status is RunStatus.CANCELLED
    statuses = {span.name: span.attributes.get("whippletree.status") for span in collected.spans}
    assert statuses == {"run": "CANCELLED", "attempt 0": "CANCELLED", "node n_a": "CANCELLED", "chat scripted-1": None}


async def test_a_run_without_a_result_ends_its_spans(client: Client) -> None:
    with collecting() as collected:
        async with rig(client, "failed", plugins=collected.plugins) as it:
            with pytest.raises(WorkflowFailureError):
                await (await it.start(toolkit="ghost")).result()

    assert collected.tree() == ["run", "  attempt 0"]
    assert collected.named("run")[0].attributes["error.type"] == "UNKNOWN_TOOLKIT"


async def test_no_span_holds_text_or_a_key(client: Client) -> None:
    failing = ToolError(ErrorCode.TOOL_EXECUTION_FAILED, "canary failure")
    wrong_key = Reply(401, {"error": {"message": f"canary: wrong key {KEY}", "code": "invalid_api_key"}})
    with collecting() as collected:
        async with rig(client, "canary", fan_in("a", "b"), wrong_key, plugins=collected.plugins, b=[failing]) as it:
            await it.run()

    seen = [span.to_json() for span in collected.spans]
    assert len(seen) == 6
    assert [text for text in seen if "canary" in text.replace("run-canary", "")] == []
