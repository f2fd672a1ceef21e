"""Workers are killed and started again, none outlives its parent, and one that dies by itself is noticed."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import Mock

import pytest

from chaos.fleet import Fleet
from chaos.worker import Post
from cli.server_process import free_port
from tests.chaos.test_chaos import ROOT, processes_in

PARENT = """
import sys, time
from pathlib import Path
from chaos.fleet import Fleet
from chaos.worker import Post

if __name__ == "__main__":
    with Fleet(2, Post("127.0.0.1:1", "queue", Path(sys.argv[1]) / "ledger")):
        print("started", flush=True)
        time.sleep(60)
"""

pytestmark = pytest.mark.slow


def until_there_are(count: int, folder: Path) -> list[str]:
    """Wait for so many processes in a folder; return those that there are in the end."""
    deadline = time.monotonic() + 30
    while len(processes_in(folder)) != count and time.monotonic() < deadline:
        time.sleep(0.05)
    return processes_in(folder)


def test_a_killed_worker_is_started_again_and_one_that_dies_by_itself_is_noticed(tmp_path: Path) -> None:
    with Fleet(1, Post(f"127.0.0.1:{free_port()}", "queue", tmp_path / "ledger")) as fleet:
        (first,) = until_there_are(1, tmp_path)
        assert fleet.index_of(int(first.split()[0])) == 0
        assert (fleet.kill(0), fleet.kill(0)) == (True, False)
        assert processes_in(tmp_path) == []

        fleet.start(0)
        (second,) = until_there_are(1, tmp_path)
        assert fleet.deaths == []
        os.kill(int(second.split()[0]), signal.SIGTERM)
        assert until_there_are(0, tmp_path) == []

    assert [death for death in fleet.deaths if "ended by itself with -15" in death] == fleet.deaths != []


@dataclass
class Dying:
    """A process that has been told to end by somebody else, and is not known to have ended until it is joined."""

    pid: int = 1
    exitcode: int | None = None

    def kill(self) -> None:
        """Come too late."""

    def join(self) -> None:
        self.exitcode = -signal.SIGTERM


def test_a_worker_that_ends_by_itself_at_the_moment_of_a_kill_is_noticed() -> None:
    fleet = Fleet(1, Post("127.0.0.1:1", "queue", Path("ledger")))
    process, lifeline = Dying(), Mock()
    fleet._workers[0] = Mock(process=process, lifeline=lifeline)

    assert fleet.kill(0)

    assert fleet.deaths == ["worker 0 (process 1) ended by itself with -15"]
    lifeline.close.assert_called_once_with()


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path, folder: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, str(program), str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder.parent)},
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        until_there_are(3, folder)  # the workers, and the parent by its command
        parent.kill()

    assert until_there_are(0, folder) == []
