"""Streams that are closed, full or read by nobody, and bytes that are not UTF-8."""

import errno
import io
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from cli import starting
from cli.exit_codes import ExitCode
from cli.plain_text import say
from cli.process import execute, guarded
from cli.progress import Lines, choose_progress
from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell


class Full(io.StringIO):
    """A stream on a device without space."""

    def write(self, _text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


STREAMS = pytest.mark.parametrize("stream", [None, Full()], ids=["closed", "full"])


@pytest.mark.usefixtures("kept_server")
@STREAMS
def test_answer_that_cannot_be_written_is_said_in_one_line_and_fails(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, stream: Full | None
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        done = command_line("--goal", "anything", "--json")

    assert done.code == 1
    lost, outcome = done.said.splitlines()[-2:]
    assert lost.startswith("The answer could not be written to stdout (")
    assert " ended SUCCEEDED" in outcome


@pytest.mark.usefixtures("kept_server")
def test_run_goes_on_when_nobody_reads_its_progress(shell: Shell) -> None:
    with shell.running("--goal", "sleep 0.5") as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
        assert process.stdout is not None
        answer = process.stdout.read()

    assert process.wait(20) == 0
    assert answer.startswith("The report")


@STREAMS
def test_saying_to_nobody_is_no_error_and_never_goes_to_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: Full | None
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        say("something")
        assert isinstance(choose_progress(), Lines)

    assert capsys.readouterr().out == ""


def test_process_without_any_stream_ends_with_its_exit_code(shell: Shell) -> None:
    words = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash", sys.executable, str(shell.script)]

    refused = subprocess.run(
        [*words, "--goal", "x", "--max-tokens", "0"], env=shell.environment(), check=False, timeout=20
    )

    assert refused.returncode == 2


@pytest.mark.usefixtures("kept_server")
def test_command_that_breaks_cancels_its_run(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("the screen is gone")

    with monkeypatch.context() as patch:
        patch.setattr(starting, "follow", broken)
        done = command_line("--goal", "sleep 60")
    run_id = done.said.split()[1]

    assert (done.code, done.said.splitlines()[-1]) == (1, "Internal error: RuntimeError: the screen is gone")
    assert command_line("show", run_id).answer.startswith(f"Run {run_id}: CANCELLED\n")


def test_panic_of_the_sdk_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as before a command has its log

    class PanicException(BaseException):
        pass

    def panic() -> None:
        raise PanicException("called unwrap")

    assert guarded(panic) == 1
    assert capsys.readouterr().err == "Internal error: PanicException: called unwrap\n"


def test_bytes_that_are_not_utf_8_are_no_obstacle(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "d\udcff")
    shell.directory.mkdir()

    done = shell.run("--goal", "anything", ANY="\udcff", PWD=str(shell.directory))

    assert done.returncode == 0, done.stderr


CORRECT = "Correct TEMPORAL_NAMESPACE, the key or the profile."


@pytest.mark.parametrize(
    ("status", "message", "code", "told"),
    [
        ("Unavailable", "tcp connect error", ExitCode.FAILED, "The Temporal server failed: tcp connect error\n"),
        (
            "NotFound",
            "Namespace nope is not found.",
            ExitCode.USAGE,
            f"The Temporal server refuses: Namespace nope is not found. {CORRECT}\n",
        ),
        (
            "PermissionDenied",
            "Request unauthorized.",
            ExitCode.USAGE,
            f"The Temporal server refuses: Request unauthorized. {CORRECT}\n",
        ),
    ],
)
def test_a_worker_that_finds_no_server_or_not_its_namespace_is_no_internal_error(
    status: str, message: str, code: ExitCode, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def command(_: object) -> ExitCode:
        detail = f'Status {{ code: {status}, message: "{message}", source: None }}'
        raise RuntimeError(
            f"Worker validation failed: Namespace nope was not found or could not be described: {detail}"
        )

    assert guarded(lambda: execute(command)) == code
    assert capsys.readouterr().err == told
