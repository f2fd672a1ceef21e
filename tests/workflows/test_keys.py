"""A tool with an effect gets a key that outlives tries and crashes (PITFALLS A9)."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from temporalio.client import Client

from harness.carry import RunInput
from harness.run import RunStatus
from tests.workflows.keyed_worker import lines
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

TASK_QUEUE = "keys"


def start_worker(address: str, book: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.workflows.keyed_worker", address, TASK_QUEUE, str(book)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def test_a_worker_killed_between_effect_and_report_makes_no_second_effect(client: Client, tmp_path: Path) -> None:
    book = tmp_path / "book"
    address = client.service_client.config.target_host
    request = RunInput(goal="pay everybody", toolkit="stage")
    handle = await client.start_workflow(OrchestratorWorkflow.run, request, id="run-keys", task_queue=TASK_QUEUE)
    worker = start_worker(address, book)
    try:
        died = await asyncio.to_thread(worker.wait, 30)
        worker = start_worker(address, book)
        result = await asyncio.wait_for(handle.result(), 60)
    finally:
        worker.kill()
        worker.wait(10)

    assert died == -9
    assert result.status is RunStatus.SUCCEEDED
    paid = [line["key"] for line in lines(book) if line["what"] == "paid"]
    tries = Counter(line["key"] for line in lines(book) if line["what"] == "try")
    assert sorted(paid) == sorted({"run-keys/pay_ann@0", *tries})
    assert len(set(paid)) == len(paid)
    assert tries["run-keys/pay_ann@0"] == 2
    assert len(result.attempts) == 1
    assert {line["key"] for line in lines(book) if line["name"] == "cleo"} == {"run-keys/pay_cleo@1"}
