"""A worker is SIGKILLed while nodes run: another one finishes the run, and nothing that was DONE runs again."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from temporalio.client import Client

from harness.carry import RunInput
from harness.run import RunStatus
from harness.trace import TraceKind
from tests.workflows.killed_worker import KilledWorker, until
from tests.workflows.ledger_worker import entries
from workflows.orchestrator import OrchestratorWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")

TASK_QUEUE = "crash"


async def test_a_killed_worker_loses_nothing_and_repeats_nothing_that_was_done(client: Client, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    address = client.service_client.config.target_host
    with KilledWorker("tests.workflows.ledger_worker", (address, TASK_QUEUE, str(ledger))) as worker:
        handle = await client.start_workflow(
            OrchestratorWorkflow.run, RunInput(goal="survive", toolkit="stage"), id="run-crash", task_queue=TASK_QUEUE
        )
        await until(lambda: {"n_slow", "n_slower"} <= {e["node"] for e in entries(ledger)})
        await until(lambda: {"n_a", "n_b", "n_after"} <= {e["node"] for e in entries(ledger) if e["what"] == "end"})
        await asyncio.sleep(0.5)  # Let their completions reach the server.
        worker.replace()
        result = await asyncio.wait_for(handle.result(), 60)

    starts = Counter(e["node"] for e in entries(ledger) if e["what"] == "start")
    assert result.status is RunStatus.SUCCEEDED
    assert starts == {"n_a": 1, "n_b": 1, "n_after": 1, "n_slow": 2, "n_slower": 2}
    keys = {e["node"]: {o["key"] for o in entries(ledger) if o["node"] == e["node"]} for e in entries(ledger)}
    assert all(len(of_node) == 1 for of_node in keys.values())
    report_tries = 1
    assert result.budget.tool_calls == sum(starts.values()) + report_tries
    lost = [e for e in result.trace if e.kind is TraceKind.NODE_RETRY]
    assert sorted((e.node_id, e.message) for e in lost) == [
        ("n_slow", "the worker was lost"),
        ("n_slower", "the worker was lost"),
    ]
