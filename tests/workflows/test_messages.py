"""Messages around a replan and at the end of a run: each is applied exactly once, in order (PITFALLS A3)."""

import asyncio

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.service import RPCError

from harness.budget import Extension, Limits
from harness.errors import ErrorCode, ToolError
from harness.run import RunStatus
from harness.trace import TraceKind
from tests.stage import extend_twice, fan_in, patient, stage
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_five_messages_around_a_replan_are_applied_once_each_in_order(client: Client) -> None:
    reached, sent = asyncio.Event(), asyncio.Event()

    async def fail_soon(_: object) -> str:
        reached.set()
        await asyncio.sleep(0.1)
        raise ToolError(ErrorCode.MISSING_INFO, "look elsewhere")

    async def once_all_are_sent(_: object) -> str:
        await sent.wait()
        return "found"

    outcomes = {"a": [fail_soon], "b": [once_all_are_sent]}
    async with stage(client, fan_in("a"), fan_in("b"), outcomes=outcomes, toolkit=patient) as it:
        handle = await it.start(limits=Limits(max_tool_calls=10))
        await asyncio.wait_for(reached.wait(), 10)
        for number in range(5):
            await extend_twice(handle, Extension(message_id=f"m{number}", tool_calls=number + 1))
            await asyncio.sleep(0.03)
        sent.set()
        result = await asyncio.wait_for(handle.result(), 10)

    applied = [(e.attempt, e.data["message_id"]) for e in result.trace if e.kind is TraceKind.BUDGET_EXTEND]
    assert result.status is RunStatus.SUCCEEDED
    assert [message for _, message in applied] == ["m0", "m1", "m2", "m3", "m4"]
    assert {attempt for attempt, _ in applied} == {0, 1}
    assert result.budget.max_tool_calls == 10 + 1 + 2 + 3 + 4 + 5


async def test_a_message_that_arrives_as_the_run_ends_is_applied_or_refused_never_lost(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        handle = await it.start(limits=Limits(max_tool_calls=10))

        async def send(number: int) -> bool:
            await asyncio.sleep(0.01 * number)
            more = Extension(message_id=f"m{number}", tool_calls=1)
            try:
                await asyncio.wait_for(handle.execute_update(OrchestratorWorkflow.extend, more), 10)
            except (RPCError, WorkflowUpdateFailedError):
                return False
            return True

        answers = await asyncio.gather(*(send(number) for number in range(8)))
        result = await asyncio.wait_for(handle.result(), 10)

    accepted = [f"m{number}" for number, was_accepted in enumerate(answers) if was_accepted]
    applied = [e.data["message_id"] for e in result.trace if e.kind is TraceKind.BUDGET_EXTEND]
    assert sorted(applied) == sorted(accepted)
