"""A worker is SIGKILLed in the middle of a step: another one goes on, and nothing that was recorded happens twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowHandle

from harness.loop import LoopResult, LoopStatus
from harness.loop_carry import LoopInput
from harness.trace import TraceKind
from tests.workflows.killed_worker import KilledWorker, until
from tests.workflows.loop_worker import noted
from workflows.agent_loop import AgentLoopWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

TASK_QUEUE = "loop-crash"


@asynccontextmanager
async def working(
    client: Client, folder: Path, *, run_id: str, slow_step: int = 0
) -> AsyncIterator[tuple[WorkflowHandle[AgentLoopWorkflow, LoopResult], KilledWorker]]:
    """Start a loop and a worker for it; a worker that replaces it is slow in no step."""
    arguments = (client.service_client.config.target_host, TASK_QUEUE, str(folder))
    with KilledWorker("tests.workflows.loop_worker", (*arguments, str(slow_step))) as worker:
        handle = await client.start_workflow(
            AgentLoopWorkflow.run, LoopInput(goal="survive", toolkit="stage"), id=run_id, task_queue=TASK_QUEUE
        )
        yield handle, worker


async def test_a_loop_goes_on_after_a_kill_and_repeats_nothing_that_was_recorded(
    client: Client, tmp_path: Path
) -> None:
    async with working(client, tmp_path, run_id="loop-crash") as (handle, worker):
        await until(lambda: {"end 3.2"} <= set(noted(tmp_path)) and any("start 3.1" in e for e in noted(tmp_path)))
        await asyncio.sleep(0.5)  # Let the completion of 3.2 reach the server.
        worker.replace(client.service_client.config.target_host, TASK_QUEUE, str(tmp_path), "0")
        result = await asyncio.wait_for(handle.result(), 60)

    ledger = noted(tmp_path)
    asked = Counter(entry for entry in ledger if entry.startswith("asked"))
    starts = Counter(entry.split()[1] for entry in ledger if entry.startswith("start"))
    keys = {entry.split()[2] for entry in ledger if entry.startswith("start 3.1")}
    assert result.status is LoopStatus.COMPLETED
    assert result.report == "all is found"
    assert asked == {f"asked {step}": 1 for step in range(1, 6)}
    assert starts == {"1.1": 1, "2.1": 1, "2.2": 1, "3.1": 2, "3.2": 1, "4.1": 1, "4.2": 1}
    assert keys == {"loop-crash/3.1@0"}, "both tries have one key"
    assert result.budget.tool_calls == sum(starts.values())


async def test_a_kill_while_the_model_is_asked_costs_that_call_and_nothing_else(client: Client, tmp_path: Path) -> None:
    async with working(client, tmp_path, run_id="loop-asked", slow_step=2) as (handle, worker):
        await until(lambda: "asked 2" in noted(tmp_path))
        worker.replace(client.service_client.config.target_host, TASK_QUEUE, str(tmp_path), "0")
        result = await asyncio.wait_for(handle.result(), 60)

    ledger = noted(tmp_path)
    asked = Counter(entry for entry in ledger if entry.startswith("asked"))
    starts = Counter(entry.split()[1] for entry in ledger if entry.startswith("start"))
    second = [event for event in result.trace if event.kind is TraceKind.STEP_FINISH][1]
    assert result.status is LoopStatus.COMPLETED
    assert asked == {"asked 1": 1, "asked 2": 2, "asked 3": 1, "asked 4": 1, "asked 5": 1}
    assert starts == dict.fromkeys(("1.1", "2.1", "2.2", "3.1", "3.2", "4.1", "4.2"), 1)
    assert second.data["tries"] == 2
    assert result.budget.estimated, "nobody knows what the lost try has used"
    assert result.budget.tokens == 4 * 150 + int(str(second.data["tokens"])) > 6 * 150
