"""The ledger of a round: what the tools of all worker processes did, written so that no SIGKILL can lose a line."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class What(StrEnum):
    """What a line tells."""

    BEGIN = "BEGIN"
    """The first line of a try."""
    EFFECT = "EFFECT"
    """The world has changed: this line is the change."""
    FAIL = "FAIL"
    """The try ends with an error of its own."""
    END = "END"
    """The try has its result, which has yet to reach the server."""


class Entry(BaseModel):
    """One line."""

    model_config = ConfigDict(frozen=True)

    what: What
    key: str
    """The idempotency key of the call."""
    run_id: str
    node_id: str
    tool: str
    try_number: int
    arguments: str
    """SHA-256 of the arguments of the call."""
    pid: int = 0
    at: float = 0.0
    """Unix time."""
    seed: int | None = None
    """Number of the call in its plan; equal for equal calls."""

    @property
    def activity_id(self) -> str:
        """Return the activity that the key names: node and attempt."""
        return self.key.removeprefix(f"{self.run_id}/")

    @property
    def attempt(self) -> int:
        """Return the attempt of the run that the key names."""
        return int(self.activity_id.partition("@")[2].partition("/")[0])


class Ledger:
    """An append-only file that any number of processes write at once."""

    def __init__(self, path: Path) -> None:
        """Name the file; it need not be there."""
        self._path = path

    def entries(self) -> tuple[Entry, ...]:
        """Return every line, oldest first; one that is just being written is left out."""
        text = self._path.read_text() if self._path.exists() else ""
        return tuple(Entry.model_validate_json(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))

    def write(self, entry: Entry) -> None:
        """Append a line, with the process and the time; it is on the disk when this returns."""
        with self._locked() as file:
            _append(file, entry)

    def apply_once(self, entry: Entry) -> bool:
        """Append a line unless one of its kind and key is there, as a service with idempotency keys would do."""
        with self._locked() as file:
            if any((other.what, other.key) == (entry.what, entry.key) for other in self.entries()):
                return False
            _append(file, entry)
        return True

    @contextmanager
    def _locked(self) -> Iterator[int]:
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # ends with the process, however that ends
            yield file
        finally:
            os.close(file)


def _append(file: int, entry: Entry) -> None:
    line = entry.model_copy(update={"pid": os.getpid(), "at": time.time()}).model_dump_json() + "\n"
    os.write(file, line.encode())
    os.fsync(file)
