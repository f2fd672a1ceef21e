"""Figures of tools over the runs of a server."""

import asyncio
import json
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import TypeAdapter
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from cli.connection import connect
from cli.dev_server import embedded_server
from harness.carry import RunInput
from harness.trace import TraceEvent
from tests.cli.conftest import CommandLine
from tests.cli.shell import STARTER, Shell
from tests.cli.stub_loop_workflow import StubLoopWorkflow
from tests.cli.told_workflow import ToldWorkflow


@asynccontextmanager
async def told_server(home: Path) -> AsyncIterator[Client]:
    """Serve told runs; those of a test are known by their toolkit."""
    async with embedded_server(home) as address:
        client = await connect(address)
        async with Worker(client, task_queue="told", workflows=[ToldWorkflow, StubLoopWorkflow]):
            yield client


async def told_run(client: Client, toolkit: str, goal: str, run_id: str | None = None) -> str:
    run_id = run_id or f"run-{uuid4().hex}"
    handle = await client.start_workflow(
        "OrchestratorWorkflow", RunInput(goal=goal), id=run_id, task_queue="told", memo={"toolkit": toolkit}
    )
    if goal != "sleep":
        try:
            await handle.result()
        except WorkflowFailureError:
            assert goal == "break"
    return run_id


async def listed(client: Client, run_ids: list[str]) -> None:
    """Wait until the server's list has runs as they are; it may be a moment late."""
    async with asyncio.timeout(10):
        while True:
            found = [run.id async for run in client.list_workflows("ExecutionStatus != 'Running'")]
            if set(run_ids) <= set(found):
                return
            await asyncio.sleep(0.05)


@pytest.mark.usefixtures("kept_server")
def test_the_calls_of_a_real_run_are_counted(shell: Shell) -> None:
    shell.script = STARTER
    run = shell.run("--goal", "a calm game under 30 USD", "--json")
    assert run.returncode == 0, run.stderr

    done = shell.run("stats", "--last", "1", "--toolkit", "games", "--since", "1h", "--json")

    figures = json.loads(done.stdout)
    calls = {tool["tool"]: tool["calls"] for tool in figures["tools"]}
    assert (figures["runs"], figures["unreadable"]) == (1, [])
    assert calls == dict.fromkeys(
        ["get_genre_facts", "get_genre_reviews", "get_games", "get_prices", "summarizer_node"], 1
    )
    assert all(tool["max_ms"] >= tool["p50_ms"] >= 0 for tool in figures["tools"])


@pytest.mark.usefixtures("kept_server")
async def test_the_worst_tool_comes_first(shell: Shell, kept_home: Path) -> None:
    toolkit = f"told:{uuid4().hex}"
    async with told_server(kept_home) as client:
        runs = [await told_run(client, f"games+{toolkit}", "calls") for _ in range(3)]
        await listed(client, runs)
        done = await asyncio.to_thread(shell.run, "stats", "--toolkit", toolkit, "--last", "2")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tool           calls  failed   rate  p50 ms  p95 ms  max ms  retries  reused  failures by code",
        "flaky              4       2  50.0%   1,500   1,500   1,500        2       0  TIMEOUT 2",
        "\\x1b[31msound      2       0   0.0%      20      20      20        0       2",
        "",
        "2 runs read",
    ]


@pytest.mark.usefixtures("kept_server")
async def test_runs_under_way_and_runs_that_cannot_be_read_are_left_out_and_named(
    shell: Shell, kept_home: Path
) -> None:
    toolkit = f"told:{uuid4().hex}"
    async with told_server(kept_home) as client:
        under_way = await told_run(client, toolkit, "sleep")
        good = await told_run(client, toolkit, "calls")
        broken = await told_run(client, toolkit, "break")
        other = await told_run(client, toolkit, "other")
        lost = await told_run(client, toolkit, f"paged {'0' * 64} 5")
        await listed(client, [good, broken, other, lost])
        told = await asyncio.to_thread(shell.run, "stats", "--toolkit", toolkit, "--json")
        done = await asyncio.to_thread(shell.run, "stats", "--toolkit", toolkit)
        await client.get_workflow_handle(under_way).terminate()

    figures = json.loads(told.stdout)
    reasons = {run["run_id"]: run["reason"] for run in figures["unreadable"]}
    assert (done.returncode, figures["runs"], figures["running"]) == (0, 1, 1)
    assert set(reasons) == {broken, other, lost}
    assert reasons[broken] == f"Run {broken} failed inside Temporal: INTERNAL: a bug"
    assert reasons[other].startswith("Its result is of another version")
    assert f"Part of the trace of run {lost} cannot be read: artifact '{'0' * 64}'" in reasons[lost]
    assert [tool["calls"] for tool in figures["tools"]] == [2, 1]
    assert "1 run read; 1 run under way left out; 3 runs whose trace cannot be read:" in done.stdout
    assert all(f"\n  {run_id}: {reason[:200]}" in done.stdout for run_id, reason in reasons.items())


@pytest.mark.usefixtures("kept_server")
async def test_events_in_pages_are_counted_too(shell: Shell, kept_home: Path) -> None:
    toolkit, run_id = f"told:{uuid4().hex}", f"run-{uuid4().hex}"
    async with told_server(kept_home) as client:
        first = await told_run(client, toolkit, "calls")
        result = await client.get_workflow_handle(first).result()
        data = TypeAdapter(list[TraceEvent]).dump_json(
            TypeAdapter(list[TraceEvent]).validate_python(result["trace"][:2])
        )
        store = ArtifactStore.open(str(kept_home / "artifacts"))
        digest = await store.put(Owner("default", run_id), data)
        await told_run(client, toolkit, f"paged {digest} {len(data)}", run_id)
        await listed(client, [first, run_id])
        done = await asyncio.to_thread(shell.run, "stats", "--toolkit", toolkit, "--last", "1", "--json")

    flaky, sound = json.loads(done.stdout)["tools"]
    assert (flaky["calls"], sound["calls"]) == (4, 1)


@pytest.mark.usefixtures("kept_server")
async def test_calls_of_agent_loops_are_counted_too(shell: Shell, kept_home: Path) -> None:
    toolkit, run_id = f"told:{uuid4().hex}", f"run-{uuid4().hex}"
    async with told_server(kept_home) as client:
        handle = await client.start_workflow(
            "AgentLoopWorkflow", RunInput(goal="x"), id=run_id, task_queue="told", memo={"toolkit": toolkit}
        )
        await handle.result()
        plan = await told_run(client, toolkit, "calls")
        await listed(client, [run_id, plan])
        done = await asyncio.to_thread(shell.run, "stats", "--toolkit", toolkit, "--json")

    figures = json.loads(done.stdout)
    assert (figures["runs"], figures["unreadable"]) == (2, [])
    assert {tool["tool"]: tool["calls"] for tool in figures["tools"]} == {"flaky": 2, "\x1b[31msound": 1, "search": 1}


@pytest.mark.usefixtures("kept_server")
def test_no_call_at_all_is_said_in_a_line(command_line: CommandLine) -> None:
    assert command_line("stats", "--toolkit", "nobody.ran:it") == (0, "No tool was called. 0 runs read\n", "")


def test_a_directory_without_runs_is_said_in_a_line(command_line: CommandLine, tmp_path: Path) -> None:
    done = command_line("stats")

    assert (done.code, done.answer, done.said.count("\n")) == (2, "", 1)
    assert f"nothing has been run in {tmp_path}/.whippletree" in done.said


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--since|soon", "--since is 'soon': give a whole number above 0 and a unit of s, m, h or d, such as 7d."),
        ("--since|0d", "--since is '0d': give a whole number above 0"),
        ("--last|0", "Invalid value for '--last': 0 is not in the range 1<=x<=10000."),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(command_line: CommandLine, words: str, line: str) -> None:
    done = command_line("stats", *words.split("|"))

    assert (done.code, done.answer, done.said.count("\n")) == (2, "", 1)
    assert line in done.said


def test_a_table_on_a_terminal_shows_cells_as_text() -> None:
    code = (
        "from cli.tool_table import answer_table\n"
        "answer_table(('tool', 'calls'), [('\\x1b[31mred [bold]', '7')], numeric=frozenset({'calls'}))"
    )
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=STARTER.parent,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        stdout=terminal,
    ) as process:
        os.close(terminal)
        assert process.wait(20) == 0
    seen = os.read(screen, 65_536).decode()
    os.close(screen)

    assert "\x1b[1;2mtool" in seen
    assert "\\x1b[31mred [bold]" in seen
