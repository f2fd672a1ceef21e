"""The Temporal server of a round: the embedded one with its file, killed and started again on the same port."""

import asyncio
import shlex
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from cli.connection import connect
from cli.dev_server import ServerAddress
from cli.exit_codes import Refusal
from cli.server_process import ServerProcess, ServerRecord, free_port
from cli.temporal_binary import find_binary

START_LIMIT_S = 30
_POLL_S = 0.05
_STARTS = 3
"""While it is down, a connection of another process may take its port for a moment."""
_PAUSE_S = 1.0
_SUGGEST = "limit.historyCount.suggestContinueAsNew"


class ChaosServer:
    """A server that can be killed. It is the process that `starter.py` embeds, with the same flags."""

    def __init__(self, home: Path, binary: Path) -> None:
        """Choose the ports; nothing runs yet."""
        self._process = ServerProcess(home)
        self._binary = binary
        self._ports = (free_port(), free_port())
        self._record: ServerRecord | None = None

    @property
    def target(self) -> str:
        """Return the address, which stays the same."""
        return f"127.0.0.1:{self._ports[0]}"

    @property
    def has_died(self) -> bool:
        """Return whether the server has ended though nobody killed it."""
        return self._record is not None and self._process.has_ended

    def last_words(self) -> str:
        """Return the last lines of the server's log."""
        return self._process.last_words()

    async def start(self) -> Client:
        """Start the server on its file, wait until it answers and return a client of it.

        Raises:
            Refusal: when it ends while starting, again and again, or does not answer in time.
        """
        deadline = time.monotonic() + START_LIMIT_S
        for _ in range(_STARTS):
            self._record = self._process.spawn(self._binary, self._ports)
            client = await self._answer_before(deadline)
            if client is not None:
                return client
            if not self._process.has_ended:
                break
            await asyncio.sleep(_PAUSE_S)
        raise Refusal(f"The Temporal server did not start. Its log says: {self.last_words()}")

    async def _answer_before(self, deadline: float) -> Client | None:
        """Return a client of the server as soon as it answers; None when it ends before, or the time is over."""
        while time.monotonic() < deadline and not self._process.has_ended:
            with suppress(Refusal, RPCError):
                client = await connect(ServerAddress(self.target))
                await client.count_workflows()
                self._process.note_ready()
                return client
            await asyncio.sleep(_POLL_S)
        return None

    async def kill(self) -> None:
        """Kill the server and wait until it has left its file."""
        record, self._record = self._record, None
        if record is not None:
            self._process.kill(record)
            await self._process.wait_for_end()


@asynccontextmanager
async def chaos_server(home: Path, *, suggest_after: int | None) -> AsyncIterator[tuple[ChaosServer, Client]]:
    """Run a server on a file in this directory while the body runs.

    Args:
        home: is created.
        suggest_after: events of a history after which the server suggests to continue as new; None for its default.
    """
    home.mkdir()  # noqa: ASYNC240 - it takes no time that anybody would notice
    binary = await find_binary(home)
    if suggest_after is not None:
        binary = _with_setting(binary, f"{_SUGGEST}={suggest_after}", home / "temporal")
    server = ChaosServer(home, binary)
    try:
        yield server, await server.start()
    finally:
        await server.kill()


def _with_setting(binary: Path, setting: str, script: Path) -> Path:
    """Write a command that becomes the real one, with one more setting of the server than it is given."""
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(binary))} "$@" --dynamic-config-value {setting}\n')
    script.chmod(0o700)
    return script
