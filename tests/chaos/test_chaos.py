"""A short version of `python -m chaos`: ten rounds, workers and the server killed by turns; CHAOS_ROUNDS for more."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "10"))
ROOT = Path(__file__).resolve().parents[2]


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start chaos with its files in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "chaos", "--json", str(folder.parent / "chaos.json"), *options],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def processes_in(folder: Path) -> list[str]:
    """Return the processes that work in a folder, by its name in their command or by their directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command, where = (process / "cmdline").read_text(), (process / "cwd").readlink()
        except OSError:
            continue
        if str(folder) in command or where.is_relative_to(folder):
            found.append(f"{process.name} {command}")
    return found


@pytest.mark.slow
@pytest.mark.timeout(60 + 15 * ROUNDS)
def test_rounds_end_without_a_violation(folder: Path) -> None:
    process = start(folder, "--rounds", str(ROUNDS), "--seed", "1", "--nodes", "16", "--parallel", "4")
    output, _ = process.communicate()

    assert process.returncode == 0, output
    report: dict[str, Any] = json.loads((folder.parent / "chaos.json").read_text())
    assert [each["violations"] for each in report["rounds"]] == [[]] * ROUNDS
    assert set(report["summary"]) == ({"workers", "server"} if ROUNDS > 1 else {"workers"})
    assert all(of_mode["extra_tries"] > 0 for of_mode in report["summary"].values())
    assert sum(len(each["kills"]) for each in report["rounds"]) >= ROUNDS
    assert list(folder.iterdir()) == []
    assert processes_in(folder) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_an_interrupt_leaves_no_process_and_no_file_behind(folder: Path) -> None:
    process = start(folder, "--rounds", "2", "--mode", "workers")
    deadline = time.monotonic() + 60
    while len(processes_in(folder)) < 3 and time.monotonic() < deadline:  # the server and two workers
        time.sleep(0.1)
    assert len(processes_in(folder)) >= 3

    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert process.returncode == 4
    assert processes_in(folder) == []
    assert list(folder.iterdir()) == []
