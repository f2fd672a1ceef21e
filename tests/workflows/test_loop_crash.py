"""A worker is SIGKILLed in the middle of a step: another one goes on, and nothing that was recorded happens twice."""

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from temporalio.client import Client

from harness.loop import LoopStatus
from harness.loop_carry import LoopInput
from harness.trace import TraceKind
from tests.workflows.loop_worker import noted
from workflows.agent_loop import AgentLoopWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

TASK_QUEUE = "loop-crash"


def start_worker(address: str, folder: Path, slow_step: int = 0) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.workflows.loop_worker", address, TASK_QUEUE, str(folder), str(slow_step)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


async def until(condition: Callable[[], bool], *, within: float = 30) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - the file of another process has no event
            await asyncio.sleep(0.05)


async def test_a_loop_goes_on_after_a_kill_and_repeats_nothing_that_was_recorded(
    client: Client, tmp_path: Path
) -> None:
    address = client.service_client.config.target_host
    worker = start_worker(address, tmp_path)
    try:
        handle = await client.start_workflow(
            AgentLoopWorkflow.run, LoopInput(goal="survive", toolkit="stage"), id="loop-crash", task_queue=TASK_QUEUE
        )
        await until(lambda: {"end 3.2"} <= set(noted(tmp_path)) and any("start 3.1" in e for e in noted(tmp_path)))
        await asyncio.sleep(0.5)  # Let the completion of 3.2 reach the server.
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker = start_worker(address, tmp_path)
        result = await asyncio.wait_for(handle.result(), 60)
    finally:
        worker.kill()
        worker.wait()

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
    address = client.service_client.config.target_host
    worker = start_worker(address, tmp_path, slow_step=2)
    try:
        handle = await client.start_workflow(
            AgentLoopWorkflow.run, LoopInput(goal="survive", toolkit="stage"), id="loop-asked", task_queue=TASK_QUEUE
        )
        await until(lambda: "asked 2" in noted(tmp_path))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker = start_worker(address, tmp_path)
        result = await asyncio.wait_for(handle.result(), 60)
    finally:
        worker.kill()
        worker.wait()

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
