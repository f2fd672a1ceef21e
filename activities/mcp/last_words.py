"""The last words of a server process: what it wrote to its standard error before something went wrong."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TextIO

from activities.model.scrubbing import hide

LINES_KEPT = 10
LINE_BYTES = 500
MOST_BYTES = 16 * LINE_BYTES
"""What is read of a line: more than is shown, so that no secret is cut before it is hidden."""
END_LIMIT_S = 0.2
"""How long what a process has written may take to be read, once the process has gone."""
log = logging.getLogger(__name__)


class LastWords:
    """Keeps the last lines of a server's standard error, without secrets, and logs all of them at level DEBUG."""

    def __init__(self, server: str, secrets: tuple[str, ...]) -> None:
        """Keep nothing yet."""
        self._server = server
        self._secrets = secrets
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)

    @property
    def text(self) -> str:
        """Return the lines as one, oldest first; empty when nothing was said."""
        return " | ".join(self._lines)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[TextIO]:
        """Return what a process may take for its standard error; it is read until the body ends."""
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as sink, os.fdopen(reading, "rb", buffering=0) as source:
            lines = _Lines(self._heard)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: lines, source)
            try:
                yield sink
                sink.close()
                with suppress(TimeoutError):
                    async with asyncio.timeout(END_LIMIT_S):
                        await lines.ended.wait()
            finally:
                transport.close()

    def _heard(self, line: bytes) -> None:
        text = hide(line.decode(errors="replace").strip(), self._secrets)[:LINE_BYTES]
        if text:
            self._lines.append(text)
            log.debug("MCP server %r: %s", self._server, text)


class _Lines(asyncio.Protocol):
    """Cuts bytes into lines; a line that does not end is cut where it becomes too long."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        self.ended = asyncio.Event()
        self._heard = heard
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._heard(line)
        self._rest = self._rest[:MOST_BYTES]

    def eof_received(self) -> None:
        self._heard(self._rest)
        self._rest = b""
        self.ended.set()
