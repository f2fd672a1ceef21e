"""The process of the embedded Temporal dev server: its command, its start, its end."""

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from cli.database import Database
from cli.exit_codes import Refusal
from cli.file_lock import POLL_S, FileLock

HOST = "127.0.0.1"
PORT = 7233
UI_PORT = 8233
STOP_LIMIT_S = 10
_LOG_LINES = 3
_KEPT_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "LANG")
"""Nothing else reaches the server: TEMPORAL_* would configure it, and keys are none of its business."""

TUNING = (
    "history.transferProcessorMaxPollRPS=200",
    "history.timerProcessorMaxPollRPS=200",
    'history.timerProcessorMaxTimeShift="20ms"',
    'history.workflowIdReuseMinimalInterval="0s"',
    "history.maximumBufferedEventsBatch=20000",
    "history.maximumBufferedEventsSizeInBytes=67108864",
    "history.enableWorkflowTaskCompletionPagination=true",
    "history.maximumEventBatchSizeInBytes=1000000",
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
)
"""One activity takes 50 ms instead of 114, three retries with a backoff of 1 ms 0.09 s instead of 3; the code obeys the
untuned limits.

timerProcessorMaxTimeShift is what a timer may be late, and so the least time between two looks at them. A look scans
all that were not removed yet, because of the OR in the server's query (getTimerTasksQuery), and every call leaves some.
At 1 ms the server falls behind for good after some 50,000 calls, and each call takes three to four times as long; at
20 ms it does not (`python -m bench --only aging`).

A task queue in one part keeps a rate limit more exactly, and wastes none of it on parts that have nothing to do.
"""


class ServerRecord(BaseModel):
    """What `server.json` tells other processes about the server."""

    model_config = ConfigDict(frozen=True)

    pid: int
    port: int
    ui_port: int

    @property
    def target(self) -> str:
        """Return the address for clients."""
        return f"{HOST}:{self.port}"

    @property
    def ui_url(self) -> str:
        """Return the address of the Web UI."""
        return f"http://{HOST}:{self.ui_port}"


class ServerProcess:
    """The server of one state directory, whoever started it. Only the holder of the gate may call this."""

    def __init__(self, home: Path) -> None:
        """Look at the files of a state directory."""
        self._home = home
        self._record = home / "server.json"
        self._log = home / "server.log"
        self._database = Database(home / "temporal.db")
        self._alive = home / "server.alive.lock"
        self._child: subprocess.Popen[bytes] | None = None
        self._dead: ServerRecord | None = None

    def record(self, known: ServerRecord | None = None) -> ServerRecord | None:
        """Return the record of the server that is alive, None without one; what a dead server left is removed.

        What a user knows of the server stands in for a record that was lost.
        """
        record = self._read() or known
        if self._is_alive(record):
            if record is None:
                raise Refusal(
                    f"A Temporal server that lost its {self._record} still runs on the files beside it: "
                    f"end the process that holds {self._alive} (fuser tells which)."
                )
            return record
        self._dead = record
        self._forget()
        return None

    def ports(self) -> tuple[int, int]:
        """Return the ports of the dead server, where its users look for it, if they are free; else usual ones."""
        dead = self._dead
        if dead is not None and dead.port != dead.ui_port and is_free(dead.port) and is_free(dead.ui_port):
            return dead.port, dead.ui_port
        return usual_ports()

    def spawn(self, binary: Path, ports: tuple[int, int]) -> ServerRecord:
        """Start the server and leave its record, before it is ready, so that it can be found whatever happens."""
        self._database.prepare()
        # The server inherits this lock and holds it as long as it lives: no process id is ever taken on trust.
        alive = FileLock(self._alive)
        alive.try_exclusive()
        try:
            with self._log.open("wb") as log:
                self._child = subprocess.Popen(
                    _command(binary.absolute(), self._database.path.name, ports),
                    cwd=self._home,  # its name may be no UTF-8, which the server takes in no argument
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={k: os.environ[k] for k in _KEPT_ENVIRONMENT if k in os.environ} | {"GOGC": "400"},
                    start_new_session=True,  # the terminal's Ctrl-C is not meant for it
                    pass_fds=(alive.fileno,) if os.name == "posix" else (),
                )
        except OSError as error:
            raise Refusal(f"The temporal command {binary} cannot be started ({error.strerror}).") from error
        finally:
            alive.close()
        record = ServerRecord(pid=self._child.pid, port=ports[0], ui_port=ports[1])
        self._record.write_text(record.model_dump_json())
        return record

    def note_ready(self) -> None:
        """Take note that the server has answered, so that its database is complete."""
        self._database.note_complete()

    @property
    def has_ended(self) -> bool:
        """Return whether the server that this process started has ended by itself."""
        return self._child is not None and self._child.poll() is not None

    def last_words(self) -> str:
        """Return the last lines of the server's log."""
        try:
            with self._log.open(errors="replace") as log:
                lines = deque((line.strip() for line in log if line.strip()), maxlen=_LOG_LINES)
        except OSError:
            return "nothing"
        return " | ".join(line[-300:] for line in lines) or "nothing"

    def met_taken_port(self) -> bool:
        """Return whether the server could not have a port; a crash report may follow those words in its log."""
        try:
            return b"address already in use" in self._log.read_bytes()
        except OSError:
            return False

    def kill(self, record: ServerRecord) -> None:
        """End the server.

        Killed, not asked: committed writes are safe in the SQLite log, and an orderly end takes a second for nothing.
        """
        with suppress(ProcessLookupError):
            os.kill(record.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        self._forget()

    async def wait_for_end(self) -> None:
        """Wait until the server has left the database, which bears one server only."""
        deadline = time.monotonic() + STOP_LIMIT_S
        while self._is_alive(None):
            if time.monotonic() > deadline:
                raise Refusal(f"The Temporal server did not end within {STOP_LIMIT_S} s.")
            await asyncio.sleep(POLL_S / 5)
        if self._child is not None:
            self._child.wait()

    def _forget(self) -> None:
        try:
            self._record.unlink(missing_ok=True)
        except OSError as error:
            raise Refusal(
                f"{self._record} cannot be removed ({error.strerror}): it is the server's record; move it away."
            ) from error

    def _read(self) -> ServerRecord | None:
        try:
            return ServerRecord.model_validate_json(self._record.read_bytes())
        except (OSError, ValidationError):
            return None

    def _is_alive(self, record: ServerRecord | None) -> bool:
        if os.name != "posix":  # descriptors are not inherited there; a port that answers has to do
            return record is not None and not is_free(record.port)
        alive = FileLock(self._alive)
        try:
            return not alive.try_exclusive()
        finally:
            alive.close()


def usual_ports() -> tuple[int, int]:
    """Return the ports that people expect where they are free, else free ones."""
    return PORT if is_free(PORT) else free_port(), UI_PORT if is_free(UI_PORT) else free_port()


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Return whether nobody listens on a port."""
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _command(binary: Path, database: str, ports: tuple[int, int]) -> list[str]:
    return [
        *(str(binary), "server", "start-dev", "--ip", HOST, "--port", str(ports[0]), "--ui-port", str(ports[1])),
        *("--ui-disable-news-fetch", "--log-level", "warn", "--db-filename", database),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *(word for value in TUNING for word in ("--dynamic-config-value", value)),
    ]
