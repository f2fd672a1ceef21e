"""Recorded runs must replay: same commands, same inputs, same results, in any process (PITFALLS A4)."""

import asyncio
import os
import random
import subprocess
import sys
from itertools import pairwise

import pytest
from temporalio.client import Client

from harness.run import RunStatus
from tests.builders import node, plan, results_of
from tests.replay.histories import fetch_chain, stored, write
from tests.replay.replaying import differences
from tests.replay.scenarios import SCENARIOS
from tests.stage import stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

STORED = dict(stored())
SEEDS = ("1", "2", "3", "4", "5")


async def test_every_scenario_has_a_recorded_history() -> None:
    assert {name.rpartition(".")[0] for name in STORED} == set(SCENARIOS)


@pytest.mark.parametrize("name", STORED)
async def test_a_recorded_run_replays_with_equal_commands_inputs_and_results(name: str) -> None:
    assert await differences(name, STORED[name]) == []


async def test_a_changed_input_is_noticed() -> None:
    name = "success.0"
    history = STORED[name]
    event = next(e for e in history.events if e.activity_task_scheduled_event_attributes.activity_id == "n_a@0")
    payload = event.activity_task_scheduled_event_attributes.input.payloads[0]
    before = payload.data
    try:
        payload.data = b'{"arguments":{"surprise":1}}'
        assert len(await differences(name, history)) == 1
    finally:
        payload.data = before


async def replay_in_new_processes(folder: str | None = None) -> None:
    """Replay in one fresh process for each seed, two at a time."""
    environment = os.environ | ({"REPLAY_FOLDER": folder} if folder else {})
    for first in range(0, len(SEEDS), 2):
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.replay.replaying",
                env=environment | {"PYTHONHASHSEED": seed},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            for seed in SEEDS[first : first + 2]
        ]
        for process in processes:
            output, _ = await asyncio.wait_for(process.communicate(), 60)
            assert process.returncode == 0, output.decode()


async def test_recorded_runs_replay_in_fresh_processes_whatever_the_hash_seed() -> None:
    await replay_in_new_processes()


async def test_a_30_node_plan_of_random_latencies_replays_and_needs_no_cache(
    client: Client, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    latencies = random.Random(7)

    async def work(_: object) -> str:
        await asyncio.sleep(latencies.uniform(0.0, 0.05))
        return "done"

    layers = [[f"n{layer}{column}" for column in range(7)] for layer in range(4)]
    nodes = [node("first", "a")]
    nodes += [node(name, "a", deps=["first"]) for name in layers[0]]
    for above, below in pairwise(layers):
        nodes += [node(name, "a", deps=[above[i], above[i - 1]]) for i, name in enumerate(below)]
    nodes.append(node("report", "write_report", deps=layers[-1], arguments={"sources": results_of(*layers[-1])}))
    assert len(nodes) == 30

    async with stage(client, plan(*nodes), outcomes={"a": [work]}, max_cached_workflows=0) as it:
        handle = await it.start()
        result = await asyncio.wait_for(handle.result(), 60)
    chain = await fetch_chain(client, handle)

    assert result.status is RunStatus.SUCCEEDED
    assert not any(e.HasField("workflow_task_failed_event_attributes") for e in chain[0].events)
    monkeypatch.setattr("tests.replay.histories.FOLDER", tmp_path)
    write("thirty", chain)
    await replay_in_new_processes(str(tmp_path))
