"""A worker process that a test kills, and starts again."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass
class KilledWorker:
    """Runs a module as a worker while the body runs."""

    module: str
    arguments: tuple[str, ...]
    _process: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Self:
        self._start(self.arguments)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """Let the process end on the spot."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def replace(self, *arguments: str) -> None:
        """Kill the worker and start another one, with other arguments if there are any."""
        self.kill()
        self._start(arguments or self.arguments)

    def _start(self, arguments: tuple[str, ...]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.module, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


async def until(condition: Callable[[], bool], *, within: float = 30) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - the file of another process has no event
            await asyncio.sleep(0.05)
