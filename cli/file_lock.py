"""A lock on a file that other processes respect and that ends with its process, however that ends."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import portalocker

from cli.exit_codes import Refusal

POLL_S = 0.05


class FileLock:
    """A lock on one file; nothing here blocks."""

    def __init__(self, path: Path) -> None:
        """Open the file, creating it if it is missing."""
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise Refusal(f"The lock file {path} cannot be opened ({error.strerror}).") from error

    @property
    def fileno(self) -> int:
        """Return the descriptor; a process that inherits it holds the lock too."""
        return self._file.fileno()

    def try_exclusive(self) -> bool:
        """Take the lock alone; return whether that worked."""
        return self._try(portalocker.LockFlags.EXCLUSIVE)

    def try_shared(self) -> bool:
        """Take the lock together with others; return whether that worked."""
        return self._try(portalocker.LockFlags.SHARED)

    def release(self) -> None:
        """Give the lock back."""
        portalocker.unlock(self._file)

    def close(self) -> None:
        """Close the file, and with it the lock unless a child process holds it."""
        self._file.close()

    def _try(self, kind: portalocker.LockFlags) -> bool:
        try:
            portalocker.lock(self._file, kind | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.AlreadyLocked:
            return False
        return True


@asynccontextmanager
async def exclusive(path: Path, *, wait_s: float) -> AsyncIterator[None]:
    """Hold a file's lock alone; wait for it, but not for ever."""
    lock = FileLock(path)
    try:
        deadline = time.monotonic() + wait_s
        while not lock.try_exclusive():
            if time.monotonic() > deadline:
                raise Refusal(f"Another process has held {path} for {wait_s:g} s: end it and try again.")
            await asyncio.sleep(POLL_S)
        yield
    finally:
        lock.close()
