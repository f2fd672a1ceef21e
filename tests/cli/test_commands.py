import asyncio
import json

import pytest
from pydantic import TypeAdapter
from temporalio.worker import Worker

from cli.connection import connect
from cli.dev_server import embedded_server
from harness.run import RunResult, RunView
from harness.trace import TraceEvent
from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell, started_run
from tests.cli.stub_workflow import StubWorkflow


@pytest.mark.usefixtures("kept_server")
def test_run_that_has_ended_is_shown_from_its_stored_result(command_line: CommandLine) -> None:
    run_id = RunResult.model_validate_json(command_line("--goal", "any thing", "--json").answer).run_id

    shown = command_line("show", run_id)
    traced = command_line("trace", run_id)
    lines = command_line("trace", run_id, "--json").answer.splitlines()
    watched = command_line("watch", run_id)

    assert shown.code == traced.code == watched.code == 0
    assert shown.answer.startswith(f"Run {run_id}: SUCCEEDED\nGoal: any thing\nModel: stub\n")
    assert "\n  first  a_tool  RUNNING  1\n" in shown.answer
    assert "with \\x1b[31mred" in shown.answer
    assert [line.split("  ")[1] for line in traced.answer.splitlines()] == ["run.start", "node.finish", "run.finish"]
    assert len([TypeAdapter(TraceEvent).validate_json(line) for line in lines]) == 3
    assert watched.answer.startswith("The report")


def test_run_under_way_is_shown_and_extended(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 2") as starter:
        run_id = started_run(starter)
        extended = command_line("extend", run_id, "--tokens", "5", "--cost", "0.05", "--json")
        refused = command_line("extend", run_id, "--tokens", "13")
        shown = command_line("show", run_id, "--json")
        traced = command_line("trace", run_id)
        assert starter.wait(20) == 0
    late = command_line("extend", run_id, "--tokens", "1")

    assert json.loads(extended.answer)["max_tokens"] == 20_005, extended.said
    assert (refused.code, refused.said) == (2, f"Run {run_id} was not extended: RUN_ENDED: 13 is refused\n")
    assert RunView.model_validate_json(shown.answer).budget.max_tokens == 20_005
    assert "run.start" in traced.answer
    assert (late.code, late.said) == (2, f"Run {run_id} has ended already: SUCCEEDED.\n")


def test_run_that_nobody_works_on_cannot_be_asked(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 60") as starter:
        run_id = started_run(starter)
        starter.kill()
    shell.kill_server()  # a new one has forgotten who polled

    done = command_line("show", run_id)

    assert done.code == 2
    assert f"so run {run_id} cannot be asked" in done.said.splitlines()[-1]


@pytest.mark.usefixtures("kept_server")
@pytest.mark.parametrize("words", ["show run-x", "trace run-x", "watch run-x", "cancel run-x", "extend run-x --cost 1"])
def test_unknown_run_is_named(command_line: CommandLine, words: str) -> None:
    assert command_line(*words.split()) == (2, "", "There is no run 'run-x' here.\n")


def test_detach_is_refused_where_nobody_would_stay(shell: Shell) -> None:
    done = shell.run("--goal", "anything", "--detach")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--detach needs a server that stays")
    assert not (shell.home / "temporal.db").exists()


async def test_detach_leaves_the_run_to_others_on_the_embedded_server(shell: Shell) -> None:
    async with embedded_server(shell.home) as address:
        client = await connect(address)
        async with Worker(client, task_queue="whippletree.games", workflows=[StubWorkflow]):
            done = await asyncio.to_thread(shell.run, "--goal", "sleep 1", "--detach", "--json")
            run_id = json.loads(done.stdout)["run_id"]
            result = await client.get_workflow_handle(run_id, result_type=RunResult).result()

    assert done.returncode == 0
    assert f"python starter.py watch {run_id}" in done.stderr
    assert result.status == "SUCCEEDED"


@pytest.mark.usefixtures("kept_server")
def test_live_progress_shows_what_a_model_wrote_as_text(shell: Shell) -> None:
    seen = shell.on_terminal("--goal", "sleep 1", columns=100)

    assert "a_tool" in seen
    assert "wall clock" in seen
    assert "\\x1b[31mrun\\x1b[0m finished" in seen
    assert "\x1b[?25h" in seen  # the cursor is back
