import json
import re
import subprocess
import sys

import pytest

from cli.ending import exit_code_of
from harness.loop import LoopStatus
from harness.run import RunResult, RunStatus
from tests.cli.conftest import CommandLine
from tests.cli.shell import STARTER, Shell, clean_environment


@pytest.mark.usefixtures("kept_server")
@pytest.mark.parametrize(
    ("goal", "code", "line"),
    [
        ("anything", 0, "ended SUCCEEDED"),
        ("end FAILED_VERIFICATION", 1, "ended FAILED_VERIFICATION: as asked"),
        ("end BUDGET_EXHAUSTED", 3, "ended BUDGET_EXHAUSTED"),
        ("end CANCELLED", 4, "ended CANCELLED"),
        ("break", 1, "failed inside Temporal: INTERNAL: a bug"),
        ("refuse", 2, "toolkit 'x' is unknown; use games"),
    ],
)
def test_exit_code_tells_how_the_run_ended(command_line: CommandLine, goal: str, code: int, line: str) -> None:
    done = command_line("--goal", goal)

    assert done.code == code, done.said
    assert line in done.said.splitlines()[-1]


def test_every_status_has_an_exit_code() -> None:
    plans = {status: int(exit_code_of(status)) for status in RunStatus}
    loops = {status: int(exit_code_of(status)) for status in LoopStatus}

    assert plans == {
        RunStatus.SUCCEEDED: 0,
        RunStatus.FAILED_PLANNING: 1,
        RunStatus.FAILED_VALIDATION: 1,
        RunStatus.FAILED_EXECUTION: 1,
        RunStatus.FAILED_VERIFICATION: 1,
        RunStatus.BUDGET_EXHAUSTED: 3,
        RunStatus.CANCELLED: 4,
    }
    assert loops == {
        LoopStatus.COMPLETED: 0,
        LoopStatus.MAX_STEPS_EXCEEDED: 1,
        LoopStatus.TIMEOUT: 1,
        LoopStatus.NO_PROGRESS: 1,
        LoopStatus.BUDGET_EXHAUSTED: 3,
        LoopStatus.FAILED: 1,
        LoopStatus.CANCELLED: 4,
    }


@pytest.mark.usefixtures("kept_server")
def test_json_is_the_result_and_nothing_else(shell: Shell) -> None:
    done = shell.run("--goal", "anything", "--json")

    result = RunResult.model_validate_json(done.stdout)
    assert result.status is RunStatus.SUCCEEDED
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["run_id"] in done.stderr


@pytest.mark.usefixtures("kept_server")
def test_report_goes_to_stdout_without_its_control_characters(shell: Shell) -> None:
    done = shell.run("--goal", "anything")

    assert done.stdout == "The report\nwith \\x1b[31mred\\x1b[0m and [bold]markup[/bold] and 日本\n"
    assert "\x1b" not in done.stderr
    assert re.search(r"0\.\d{3} s  node\.finish  DONE  first node\n", done.stderr)


@pytest.mark.usefixtures("kept_server")
def test_terminal_that_is_not_utf_8_gets_replacements(shell: Shell) -> None:
    done = shell.run("--goal", "日本", PYTHONIOENCODING="ascii")

    assert done.returncode == 0
    assert done.stdout.endswith("and ??\n")


@pytest.mark.usefixtures("kept_server")
def test_report_that_nobody_reads_is_no_traceback(shell: Shell) -> None:
    with shell.running("--goal", "sleep 1") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()

    assert "Traceback" not in said
    assert process.returncode != 0


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, starter; print(sorted({'temporalio', 'rich', 'pydantic', 'worker'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=STARTER.parent, env=clean_environment(), capture_output=True, check=True
    )

    assert done.stdout == b"[]\n"
