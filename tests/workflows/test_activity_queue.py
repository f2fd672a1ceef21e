"""A run may wait in one task queue and make its calls in another: its own model, key and tools work on it."""

import asyncio

import pytest
from temporalio.client import Client

from harness.carry import RunInput
from harness.errors import ErrorCode, ToolError
from harness.run import RunStatus
from tests.stage import fan_in, stage
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

MISSING = ToolError(ErrorCode.MISSING_INFO, "look elsewhere")


async def test_all_calls_of_a_run_are_made_in_its_own_queue_also_after_a_replan(client: Client) -> None:
    async with (
        stage(client, fan_in("a"), task_queue="divided") as public,
        stage(client, fan_in("a"), outcomes={"a": [MISSING, "mine"]}, task_queue="divided/run") as private,
    ):
        given = RunInput(goal="g", toolkit="stage", activity_queue="divided/run")
        handle = await client.start_workflow(OrchestratorWorkflow.run, given, id="run-divided", task_queue="divided")
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert (public.model.requests, public.tools.calls) == ([], [])
    assert len(private.model.requests) == 2
    assert private.tools.count("a") == 2
