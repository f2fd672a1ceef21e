"""The audit log: who asked a model what, and whether it was allowed, as JSON lines that are only ever appended.

It has digests in place of content, and so neither private values nor secrets.
"""

import json
import os
import re
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

MAX_FILE_BYTES = 10_485_760
"""A file that is as large as this gets no more lines."""
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


class Direction(StrEnum):
    """What an entry is about."""

    GOAL = "goal"
    INPUT = "input"
    OUTPUT = "output"
    RESULT = "result"
    """What a tool has brought in."""


@dataclass(frozen=True)
class Caller:
    """Which activity it is that asks."""

    run_id: str
    activity: str
    activity_id: str
    try_number: int


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """One line of the log, without its time."""

    direction: Direction
    is_allowed: bool
    guardrails: tuple[str, ...] = ()
    """Those that have run for it."""
    flags: tuple[str, ...] = ()
    """Codes of what they found, such as injection:override."""
    digest: str = ""
    """SHA-256 of the content, private values replaced."""
    role: str = ""
    """What the model is asked for; empty when none is."""
    model: str = ""
    """Who has answered, as its server says."""
    tokens: int = 0
    latency_ms: int = 0


class AuditLog:
    """Appends whole lines to files of one process: one a day, and another when it has grown large."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Write into a folder, which is made when there is something to write."""
        self._folder = folder
        self._now = now
        self._host = _UNSAFE.sub("-", socket.gethostname()) or "host"
        self._name = ""
        self._number = 0

    def write(self, caller: Caller, entry: AuditEntry) -> None:
        """Append an entry.

        Raises:
            OSError: when it is not in the log.
        """
        now = self._now()
        line = json.dumps(_fields(now, caller, entry), ensure_ascii=False, separators=(",", ":"))
        data = line.encode(errors="backslashreplace") + b"\n"  # of half a character, too, JSON has an escape
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = self._open(f"audit-{now:%Y-%m-%d}-{self._host}-{os.getpid()}")
        try:
            _append(file, data)
        finally:
            os.close(file)

    def _open(self, name: str) -> int:
        """Open the file to append to: the first one of the day that is not full."""
        if name != self._name:
            self._name, self._number = name, 0
        while True:
            suffix = f".{self._number}" if self._number else ""
            file = os.open(self._folder / f"{name}{suffix}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            if os.fstat(file).st_size < MAX_FILE_BYTES:
                return file
            os.close(file)
            self._number += 1


def _append(file: int, data: bytes) -> None:
    """Append a line in one piece, not buffered: neither a killed process nor a full disk leaves half of one."""
    size = os.fstat(file).st_size
    if os.write(file, data) != len(data):
        os.ftruncate(file, size)
        raise OSError("a line was written only in part")


def _fields(now: datetime, caller: Caller, entry: AuditEntry) -> dict[str, object]:
    who, what = asdict(caller), asdict(entry)
    names = {"try_number": "try", "is_allowed": "allowed"}
    return {"time": now.isoformat(timespec="milliseconds")} | {
        names.get(key, key): value for key, value in (who | what).items()
    }
