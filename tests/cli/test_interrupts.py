import json
import signal
import time

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell, started_run, wait_for_line, wait_until


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("missing", ["", "1"], ids=["unix", "without add_signal_handler"])
def test_first_signal_cancels_the_run_and_prints_its_result(shell: Shell, number: int, missing: str) -> None:
    with shell.running("--goal", "sleep 60", "--json", STUB_WITHOUT_SIGNAL_HANDLERS=missing) as process:
        run_id = started_run(process)
        process.send_signal(number)
        out, said = process.communicate(timeout=20)

    assert process.returncode == 4, said
    assert f"Cancelling run {run_id}" in said
    assert json.loads(out)["status"] == "CANCELLED"
    assert "Traceback" not in said
    assert not shell.has_server()


def test_second_signal_leaves_at_once_and_says_how_to_look(shell: Shell) -> None:
    with shell.running("--goal", "stubborn") as process:
        run_id = started_run(process)
        process.send_signal(signal.SIGINT)
        wait_for_line(process, "Cancelling run")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)

    assert process.returncode == 4
    assert time.monotonic() - began < 2
    assert said.splitlines()[-1] == f"Left. See how it ends: python starter.py watch {run_id}"
    wait_until(lambda: not shell.has_server())


def test_signal_while_the_server_starts_leaves_nothing_behind(shell: Shell) -> None:
    with shell.running("--goal", "sleep 60") as process:
        wait_until((shell.home / "server.json").exists)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=20)

    assert (process.returncode, out) == (4, ""), said
    assert not shell.has_server()


def test_signal_only_ends_watching(shell: Shell) -> None:
    with shell.running("--goal", "sleep 2") as starter:
        run_id = started_run(starter)
        with shell.running("watch", run_id) as watching:
            wait_for_line(watching, "run.start")
            watching.send_signal(signal.SIGINT)
            _, said = watching.communicate(timeout=20)
        assert (watching.returncode, said) == (130, f"Stopped watching run {run_id}; it goes on.\n")
        assert starter.wait(20) == 0


def test_cancel_command_ends_a_run_of_another_process(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 60") as starter:
        run_id = started_run(starter)
        done = command_line("cancel", run_id)
        assert done.code == 0, done.said
        assert starter.wait(20) == 4

    assert command_line("cancel", run_id) == (2, "", f"Run {run_id} has ended already: CANCELLED.\n")


def test_cancel_command_ends_a_run_that_its_process_left_behind(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 60") as starter:
        run_id = started_run(starter)
        starter.kill()

    done = command_line("cancel", run_id)

    assert done.code == 0, done.said
    assert f"Run {run_id} ended CANCELLED" in done.said
