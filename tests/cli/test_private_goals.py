"""Private values of a goal stay at the command line: the server gets placeholders, the report has the values again."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from cli.connection import connect
from cli.dev_server import embedded_server
from harness.loop import LoopResult
from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell

ADDRESS = "ann.lee@example.com"
GOAL = f"echo a letter to {ADDRESS}"


@pytest.mark.usefixtures("kept_server")
def test_people_read_the_value_where_the_run_had_a_placeholder(command_line: CommandLine) -> None:
    told = command_line("--goal", GOAL, "--mode", "loop", "--json")
    result = LoopResult.model_validate_json(told.answer)

    shown = command_line("show", result.run_id)
    watched = command_line("watch", result.run_id)

    assert result.report == GOAL
    assert watched.answer == f"{GOAL}\n"
    assert shown.answer.endswith(f"\nAnswer\n{GOAL}\n")
    assert re.search(r"\nGoal: echo a letter to <EMAIL_[0-9a-f]{8}>\n", shown.answer)


@pytest.mark.usefixtures("kept_server")
@pytest.mark.parametrize("mode", ["plan", "loop"])
async def test_the_server_never_gets_a_private_value(shell: Shell, kept_home: Path, mode: str) -> None:
    done = await asyncio.to_thread(shell.run, "--goal", GOAL, "--mode", mode)
    run_id = done.stderr.split()[1]

    async with embedded_server(kept_home) as address:
        client = await connect(address)
        handle = client.get_workflow_handle(run_id)
        history = b"".join(event.SerializeToString() for event in (await handle.fetch_history()).events)
        described = (await handle.describe()).raw_description.SerializeToString()

    assert done.returncode == 0, done.stderr
    assert b"a letter to" in history
    assert b"ann.lee" not in history
    assert b"ann.lee" not in described
    assert ADDRESS not in done.stderr


@pytest.mark.usefixtures("kept_server")
@pytest.mark.parametrize("masking", ["on", "off"])
def test_a_goal_may_speak_of_placeholders(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, masking: str
) -> None:
    monkeypatch.setenv("WHIPPLETREE_PII", masking)
    goal = f"{GOAL}: what does <EMAIL_0123abcd> mean?"

    done = command_line("--goal", goal, "--mode", "loop", "--json")

    assert (done.code, LoopResult.model_validate_json(done.answer).report) == (0, goal)
    assert "stayed" not in done.said


@pytest.mark.usefixtures("kept_server")
def test_a_goal_that_placeholders_make_too_long_is_refused(command_line: CommandLine) -> None:
    done = command_line("--goal", "a@b.com " * 2_000)

    assert (done.code, done.answer) == (2, "")
    assert done.said == (
        "--goal is too long: 34,000 characters with placeholders for its private values, at most 20,000 are taken.\n"
    )


@pytest.mark.usefixtures("kept_server")
def test_nothing_is_started_when_private_values_cannot_be_kept(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "default").write_text("a file where the runs' folders should be")
    monkeypatch.setenv("WHIPPLETREE_ARTIFACTS", str(store))

    done = command_line("--goal", GOAL)

    assert (done.code, done.answer, done.said.count("\n")) == (1, "", 1)
    assert done.said.startswith("The private values of the goal cannot be kept, so nothing was started: ")


@pytest.mark.usefixtures("kept_server")
def test_placeholders_whose_values_are_gone_stay_and_a_line_says_how_many(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    goal = f"{GOAL}, with a copy to bob@example.com and another to {ADDRESS}"
    monkeypatch.setenv("WHIPPLETREE_ARTIFACTS", str(tmp_path / "store"))
    run_id = LoopResult.model_validate_json(command_line("--goal", goal, "--mode", "loop", "--json").answer).run_id
    shutil.rmtree(tmp_path / "store" / "default")

    watched = command_line("watch", run_id)
    shown = command_line("show", run_id)

    line = (
        f"Private values of run {run_id}: 2 placeholders stayed, because the artifact store {tmp_path}/store has no "
        "value for them (pruned, or kept elsewhere: then set WHIPPLETREE_ARTIFACTS to that place).\n"
    )
    assert re.fullmatch(
        r"echo a letter to (<EMAIL_\w+>), with a copy to <EMAIL_\w+> and another to \1\n", watched.answer
    )
    assert watched.said.startswith(line)
    assert watched.said.count("\n") == 2
    assert (shown.code, shown.said) == (0, line)


@pytest.mark.usefixtures("kept_server")
def test_a_private_value_among_ungrounded_figures_is_readable_too(command_line: CommandLine) -> None:
    done = command_line("--goal", f"invent {ADDRESS} 42", "--mode", "loop")
    run_id = done.said.splitlines()[-1].split()[1]

    shown = command_line("show", run_id)
    told = command_line("show", run_id, "--json")

    assert f"has these figures of the answer: {ADDRESS}, 42\n" in done.said
    assert f"\nUngrounded: {ADDRESS}, 42\n" in shown.answer
    assert LoopResult.model_validate_json(told.answer).ungrounded == (ADDRESS, "42")
    assert "placeholder" not in done.said
