"""The command line in real processes, each test in a state directory of its own."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cli.file_lock import FileLock

STARTER = Path(__file__).parents[2] / "starter.py"
STUB_STARTER = Path(__file__).with_name("stub_starter.py")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("TEMPORAL_", "WHIPPLETREE_", "OPENAI_"))}


@dataclass
class Shell:
    """Runs the command line with the stub worker in one directory."""

    directory: Path
    port: int = field(default_factory=free_port)
    script: Path = STUB_STARTER
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.directory / ".whippletree"

    def environment(self, **more: str) -> dict[str, str]:
        ours = {"STUB_PORT": str(self.port), "HOME": str(self.directory), "PYTHONPATH": str(STARTER.parent)}
        return clean_environment() | ours | self.settings | more

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, self.script, *words],
            cwd=self.directory,
            env=self.environment(**environment),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def on_terminal(self, *words: str, columns: int) -> str:
        """Run a command whose stderr is a terminal; return what the terminal was sent. It must succeed."""
        screen, terminal = pty.openpty()
        with subprocess.Popen(
            [sys.executable, self.script, *words],
            cwd=self.directory,
            env=self.environment(TERM="xterm", COLUMNS=str(columns), LINES="30"),
            stdout=subprocess.PIPE,
            stderr=terminal,
        ) as process:
            os.close(terminal)
            seen = _read_all(screen)
            assert process.wait(20) == 0
        return seen

    @contextmanager
    def running(self, *words: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
        with subprocess.Popen(
            [sys.executable, self.script, *words],
            cwd=self.directory,
            env=self.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def server_pid(self) -> int:
        return int(json.loads((self.home / "server.json").read_text())["pid"])

    def has_server(self) -> bool:
        return has_server(self.home)

    def kill_server(self) -> None:
        os.kill(self.server_pid(), signal.SIGKILL)
        wait_until(lambda: not self.has_server())


def has_server(home: Path) -> bool:
    if not home.exists():
        return False
    lock = FileLock(home / "server.alive.lock")
    try:
        return not lock.try_exclusive()
    finally:
        lock.close()


def wait_for_line(process: "subprocess.Popen[str]", text: str) -> str:
    """Read stderr up to the line that holds a text."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if text in line:
            return line
    raise AssertionError(f"the process ended without saying {text!r} but {''.join(said)!r}")


def started_run(process: "subprocess.Popen[str]") -> str:
    """Return the id of the run that a process has started, once a worker is at work on it."""
    run_id = wait_for_line(process, " started on ").split()[1]
    wait_for_line(process, "run.start")
    return run_id


def wait_until(condition: object, limit_s: float = 10) -> None:
    assert callable(condition)
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def _read_all(screen: int) -> str:
    seen = b""
    try:
        while chunk := os.read(screen, 65_536):
            seen += chunk
    except OSError:  # how a terminal on Linux says that nobody writes any more
        pass
    os.close(screen)
    return seen.decode(errors="replace")
