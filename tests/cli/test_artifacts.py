"""The commands that look after artifacts, on a store and a server of the test's own."""

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from harness.run import RunResult
from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell, started_run

DAY_S = 24 * 3600
DATA = b"x" * 1000


def keep(home: Path, run_id: str, *, age_s: float, data: bytes = DATA) -> Path:
    """Keep an artifact of a run, as if that had been so long ago."""
    store = ArtifactStore.open(str(home / "artifacts"))
    digest = asyncio.run(store.put(Owner("default", run_id), data))
    (path,) = (home / "artifacts").rglob(f"{run_id}/{digest}")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


@pytest.mark.usefixtures("kept_server")
def test_prune_removes_what_is_old_and_belongs_to_no_run(command_line: CommandLine, kept_home: Path) -> None:
    run_id = RunResult.model_validate_json(command_line("--goal", "any thing", "--json").answer).run_id
    of_retained_run = keep(kept_home, run_id, age_s=8 * DAY_S)
    young = keep(kept_home, "run-gone-young", age_s=6 * DAY_S)
    old = keep(kept_home, "run-gone-old", age_s=8 * DAY_S)
    other = keep(kept_home, "run-gone-old", age_s=8 * DAY_S, data=b"other")

    would = command_line("artifacts", "prune", "--dry-run")
    assert would.answer == (
        "default/run-gone-old  1,005 bytes\n"
        f"Would remove the artifacts of 1 runs: 2 objects, 1,005 bytes, from {kept_home}/artifacts\n"
    )
    assert old.exists()

    done = command_line("artifacts", "prune", "--json")
    assert json.loads(done.answer) == {
        "dry_run": False,
        "runs": 1,
        "objects": 2,
        "bytes": 1005,
        "folders": ["default/run-gone-old"],
    }
    assert not old.parent.exists()
    assert not other.exists()
    assert of_retained_run.exists()
    assert young.exists()

    assert json.loads(command_line("artifacts", "prune", "--older-than", "5d", "--json").answer)["runs"] == 1
    assert not young.exists()


def test_prune_keeps_what_an_open_run_needs(shell: Shell, command_line: CommandLine) -> None:
    with shell.running("--goal", "sleep 3") as starter:
        of_open_run = keep(shell.home, started_run(starter), age_s=8 * DAY_S)
        done = command_line("artifacts", "prune")
        assert starter.wait(20) == 0

    assert done.code == 0, done.said
    assert done.answer.startswith("Removed the artifacts of 0 runs: 0 objects, 0 bytes")
    assert of_open_run.exists()


@pytest.mark.parametrize(
    ("age", "line"),
    [
        ("soon", "--older-than is 'soon': give a whole number and a unit of s, m, h or d, such as 7d."),
        ("7", "--older-than is '7': give a whole number and a unit"),
        ("-1d", "--older-than is '-1d': give a whole number and a unit"),
        ("1.5h", "--older-than is '1.5h': give a whole number and a unit"),
        ("999999d", "--older-than is '999999d': give a whole number and a unit"),
        ("", "--older-than is '': give a whole number and a unit"),
        ("0s", "--older-than is '0s', it must be at least 1m"),
    ],
)
def test_a_bad_age_is_one_line_and_exit_code_2(command_line: CommandLine, age: str, line: str) -> None:
    done = command_line("artifacts", "prune", "--older-than", age)

    assert (done.code, done.answer) == (2, "")
    assert done.said.count("\n") == 1
    assert line in done.said


def test_prune_without_any_run_says_so(command_line: CommandLine) -> None:
    done = command_line("artifacts", "prune")

    assert done.code == 2
    assert "nothing has been run in" in done.said


@pytest.mark.usefixtures("kept_server")
def test_the_embedded_server_does_not_empty_a_store_that_others_use(
    command_line: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHIPPLETREE_ARTIFACTS", str(tmp_path / "shared"))

    done = command_line("artifacts", "prune")

    assert done.code == 2
    assert "WHIPPLETREE_ARTIFACTS names a store that runs of other servers may need" in done.said


def test_show_writes_the_bytes_as_they_are(shell: Shell) -> None:
    path = keep(shell.home, "run-1", age_s=0, data="\x00 é".encode())

    done = shell.run("artifacts", "show", "run-1", path.name)

    assert (done.returncode, done.stdout) == (0, "\x00 é")


def test_show_names_what_is_missing(command_line: CommandLine) -> None:
    missing, malformed = (
        command_line("artifacts", "show", "run-1", "0" * 64),
        command_line("artifacts", "show", "r", "x"),
    )

    assert missing.code == malformed.code == 2
    assert f"artifact '{'0' * 64}' of run 'default/run-1' cannot be had" in missing.said
    assert "it is missing" in missing.said
    assert "DIGEST is 'x', which names no artifact" in malformed.said


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("ftp://host/path", "WHIPPLETREE_ARTIFACTS names no store that can be used"),
        ("https://user:hunter22@host/path", "it has credentials, a query or a fragment"),
        ("http://host/path", "a plain web server keeps no artifacts"),
        ("memory://x", "memory:// takes no path"),
        ("file://host/path", "a file URL has three slashes before its path"),
    ],
)
def test_a_bad_store_is_one_line_and_exit_code_2(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, place: str, line: str
) -> None:
    monkeypatch.setenv("WHIPPLETREE_ARTIFACTS", place)

    done = command_line("--goal", "x")

    assert (done.code, done.answer) == (2, "")
    assert done.said.count("\n") == 1
    assert line in done.said
    assert "hunter22" not in done.said
