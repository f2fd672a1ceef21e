"""Keepers of sessions: one for each server, for as long as the worker lives; opens it anew when it has broken."""

import asyncio
import logging
import math
import random
from collections.abc import Callable

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from activities.mcp.entry import ServerEntry, ServersFileError
from activities.mcp.last_words import LastWords
from activities.mcp.requests import offered_tools
from activities.mcp.secrets import without_queries
from activities.mcp.transport import opened
from activities.model.scrubbing import scrub
from harness.errors import bounded

CLOSE_LIMIT_S = 10.0
"""How long a server may take to end; after 2 s its process is told to, after 4 s it is killed."""
FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 30.0
"""Waits between tries to open a broken session: from the first, doubling to the longest, with jitter."""
LONG_LIFE_S = 10.0
"""A session that was ready for so long is opened again without a long wait."""
CLIENT = types.Implementation(name="whippletree", version="1")
log = logging.getLogger(__name__)


class SessionKeeper:
    """A session with one server, and the tools that it offers at present."""

    def __init__(self, entry: ServerEntry) -> None:
        """Describe a session that `start` opens."""
        self.entry = entry
        self.tools: tuple[types.Tool, ...] = ()
        self.instructions = ""
        self.version = ""
        """Version of the server."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when other tools are offered."""
        self.last_words = LastWords(entry.name, entry.secrets)
        self._ready_at = math.inf
        """When this connection became ready, by the clock of the event loop."""
        self._stray = 0
        """Messages of this connection that were none."""
        self._client: Client | None = None
        self._is_up = asyncio.Event()
        self._ended = asyncio.Event()
        self._stale = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._closing = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the session, and keep it open until `close`.

        Raises:
            ServersFileError: when the server does not start within its time, with its last words.
        """
        first: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(first), name=f"MCP server {self.entry.name}")
        try:
            await first
        except ServersFileError:
            await self._keeper
            raise

    async def close(self) -> None:
        """End the session and the server's process, if it has one."""
        self._closing.set()
        self._ended.set()
        if not self._is_up.is_set():
            self._scope.cancel()
        if self._keeper is None:
            return
        _, pending = await asyncio.wait([self._keeper], timeout=CLOSE_LIMIT_S)
        for task in pending:
            task.cancel()
            await asyncio.wait([task], timeout=1)

    async def ready_client(self, within_s: float) -> Client:
        """Return the client of the open session; wait for one if there is none.

        Raises:
            TimeoutError: when none is there in time.
        """
        async with asyncio.timeout(within_s):
            while self._client is None:
                await self._is_up.wait()
        return self._client

    def lose(self) -> None:
        """Give the connection up, before anybody sends more on it; another one is opened."""
        self._client = None
        self._is_up.clear()
        self._ended.set()

    async def _keep(self, first: asyncio.Future[None]) -> None:
        """Open the session again and again, until it is closed; the first time it must succeed."""
        loop = asyncio.get_running_loop()
        wait_s = FIRST_WAIT_S
        while not self._closing.is_set():
            why = await self._once(first)
            if not first.done():
                first.set_exception(self._refusal(why))
                return
            if self._closing.is_set():
                return
            if loop.time() - self._ready_at >= LONG_LIFE_S:
                wait_s = FIRST_WAIT_S
            log.warning("MCP server %r: %s; opening it again in %.1f s", self.entry.name, why, wait_s)
            await self._pause(wait_s * random.uniform(0.8, 1.2))  # noqa: S311 - spreads reconnects, guards nothing
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    async def _once(self, first: asyncio.Future[None]) -> str:
        """Hold one connection until it ends, and return why it did."""
        self._ended, self._stray, self._ready_at = asyncio.Event(), 0, math.inf
        limit_s = self.entry.start_limit.total_seconds()
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + limit_s) as self._scope:
                await self._connection(first)
                return "the session has ended"
        except Exception as error:  # noqa: BLE001 - the SDK, HTTP and the process each raise their own, in groups
            return self._reason(error)
        finally:
            self.lose()
        return f"no answer to initialize and tools/list within {limit_s:g} s"

    async def _connection(self, first: asyncio.Future[None]) -> None:
        transport = opened(self.entry, self.last_words, self.lose)
        async with Client(
            transport, message_handler=self._on_message, client_info=CLIENT, cache=None, mode="auto"
        ) as client:
            self.instructions = client.instructions or ""
            self.version = client.server_info.version if client.server_info else ""
            await self._list(client)
            self._scope.deadline = math.inf
            self._client = client
            self._is_up.set()
            self._ready_at = asyncio.get_running_loop().time()
            if not first.done():
                first.set_result(None)
            try:
                await self._hold(client)
            finally:
                self.lose()

    async def _hold(self, client: Client) -> None:
        """Wait for the end of the connection, and look at the tools whenever they have changed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._list_when_stale, client)
            offers = client.server_capabilities.tools
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS and offers and offers.list_changed:
                tasks.start_soon(self._subscribe, client)
            await self._ended.wait()
            tasks.cancel_scope.cancel()

    async def _list_when_stale(self, client: Client) -> None:
        while True:
            await self._stale.wait()
            try:
                await self._list(client)
            except (MCPError, ValueError) as error:
                log.warning("MCP server %r: its tools could not be listed: %s", self.entry.name, self._reason(error))

    async def _subscribe(self, client: Client) -> None:
        """Ask to be told of changes, as servers of the newest protocol want to be asked."""
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._stale.set()
                    async for _ in changes:
                        self._stale.set()
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                log.debug("MCP server %r: the subscription has ended: %s", self.entry.name, error)
            await anyio.sleep(LONG_LIFE_S)

    async def _list(self, client: Client) -> None:
        self._stale.clear()
        found = tuple([tool for tool in await offered_tools(client) if self.entry.policy.allows(tool.name)])
        if found != self.tools:
            self.tools = found
            self.on_change()

    async def _on_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._stale.set()
        elif isinstance(message, Exception):
            self._stray += 1
            if self._stray == 1:
                log.warning("MCP server %r wrote what is no MCP message to its stdout", self.entry.name)

    def _refusal(self, why: str) -> ServersFileError:
        words = self.last_words.text
        said = f"; it said: {words}" if words else ""
        return ServersFileError(f"MCP server {self.entry.name!r} ({self.entry.shown}) did not start: {why}{said}")

    def _reason(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        text = error.message if isinstance(error, MCPError) else str(error)
        plain = " ".join(scrub(without_queries(text), self.entry.secrets).split())
        stray = f"; {self._stray} lines on its stdout were no MCP messages" if self._stray else ""
        return f"{type(error).__name__}: {bounded(plain, 500)}{stray}"
