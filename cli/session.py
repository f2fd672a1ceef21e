"""A session: which server a command talks to."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client

from cli import connection
from cli import home as state
from cli.connection import connect, load_settings, open_artifacts
from cli.dev_server import ServerAddress, embedded_server, is_embedded
from cli.exit_codes import Refusal

WorkerFactory = Callable[..., AbstractAsyncContextManager[object]]
"""(client, queue, driven queue or None) -> a worker of one task queue in this process, which also drives the runs of a
second queue if that is named. With `mcp=` it opens the servers of that file."""
PROBE_LIMIT_S = 1


@dataclass(frozen=True)
class Session:
    """A connected command."""

    client: Client
    address: ServerAddress
    is_embedded: bool

    @property
    def ui_hint(self) -> str:
        """Return where to see more, with a leading space, or nothing where that is unknown."""
        return f" Web UI: {self.address.ui_url}" if self.address.ui_url else ""


@asynccontextmanager
async def open_session(refuse_to_start: Callable[[], None] = lambda: None) -> AsyncIterator[Session]:
    """Connect to the configured server, one that runs on the default address, or the embedded one.

    `refuse_to_start` is called before an embedded server is started, and may raise a Refusal.
    """
    open_artifacts()  # refuses a setting that no connection could be made with, before a server is waited for
    if load_settings() is not None:
        _log_to_file()
        client = await connect()
        yield Session(client, _address_of(client), is_embedded=False)
        return

    async def find_other() -> ServerAddress | None:
        other = await _running_server()
        if other is None:
            refuse_to_start()
        return other

    async with embedded_server(find_other=find_other) as address:
        _log_to_file()
        yield Session(await connect(address), address, is_embedded=address.ui_url is not None)


async def _running_server() -> ServerAddress | None:
    """Return the server on the default address, unless it is none of Temporal's or another directory's embedded one."""
    host, port = connection.DEFAULT_TARGET.split(":")
    address = ServerAddress(target=connection.DEFAULT_TARGET)
    try:
        async with asyncio.timeout(PROBE_LIMIT_S):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.close()
            client = await connect(address)
    except (OSError, TimeoutError, Refusal):
        return None
    return None if await is_embedded(client) else address


def _address_of(client: Client) -> ServerAddress:
    return ServerAddress(target=client.service_client.config.target_host, namespace=client.namespace)


def _log_to_file() -> None:
    """Keep the log of the SDK and of a worker in this process off the terminal, which shows the run."""
    folder = state.state_dir()
    log: logging.Handler = logging.NullHandler()
    if folder.is_dir():
        log = logging.FileHandler(folder / "starter.log", delay=True, encoding="utf-8", errors="replace")
    logging.basicConfig(handlers=[log], format="%(asctime)s %(levelname)s %(name)s %(message)s")
