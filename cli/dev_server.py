"""The embedded Temporal server of a state directory, shared by every process that needs it.

Each user holds a shared lock on `server.lock`; the last one to leave stops the server. Arriving and leaving happen
behind the gate, an exclusive lock held for as long as that takes, so that nobody starts a second server or stops one
that somebody is about to use. Locks end with their process: whatever a killed process leaves behind is taken over.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig, UpdateNamespaceInfo
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from cli import home as state
from cli.connection import connect
from cli.exit_codes import Refusal
from cli.file_lock import POLL_S, FileLock, exclusive
from cli.server_process import ServerProcess, ServerRecord, free_port
from cli.temporal_binary import find_binary

NAMESPACE = "default"
RETENTION = timedelta(days=30)
"""How long finished runs stay in the file; the dev server's own default is a day."""
START_LIMIT = timedelta(seconds=30)
GATE_LIMIT_S = 180
"""Longer than a start with a download behind the gate."""
STARTS = 3
"""A port that was free may be taken a moment later, by a server of another state directory for one."""
_MARK = "whippletree"


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is."""

    target: str
    namespace: str = NAMESPACE
    ui_url: str | None = None
    """Address of the Web UI where it is known."""
    is_shared: bool = False
    """True when somebody else used the embedded server already."""
    abandon: Callable[[], None] = field(default=lambda: None, compare=False)
    """Leaves the embedded server without waiting for anything, for a process that is about to end on the spot."""


FindOther = Callable[[], Awaitable[ServerAddress | None]]


@asynccontextmanager
async def embedded_server(
    home: Path | None = None, *, find_other: FindOther | None = None, start_limit: timedelta = START_LIMIT
) -> AsyncIterator[ServerAddress]:
    """Use the embedded server; start it if nobody has, stop it if nobody else is left.

    `find_other` is asked before a server is started, and may name another one to use or raise a Refusal.
    """
    home = home or state.state_dir()
    state.create(home)
    server = _EmbeddedServer(home, start_limit)
    try:
        async with server.gate():
            address = await server.enter(find_other)
        yield address
    finally:
        await server.leave()


async def is_embedded(client: Client) -> bool:
    """Return whether a server is the embedded one of some state directory."""
    try:
        reply = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=NAMESPACE), timeout=timedelta(seconds=3)
        )
    except RPCError:
        return False
    return _MARK in reply.namespace_info.data


class _EmbeddedServer:
    """One user's hold on the server."""

    def __init__(self, home: Path, start_limit: timedelta) -> None:
        self._home = home
        self._start_limit = start_limit
        self._process = ServerProcess(home)
        self._users = FileLock(home / "server.lock")
        self._record: ServerRecord | None = None

    def gate(self) -> AbstractAsyncContextManager[None]:
        return exclusive(self._home / "server.gate.lock", wait_s=GATE_LIMIT_S)

    async def enter(self, find_other: FindOther | None) -> ServerAddress:
        is_shared = self._has_other_users()
        record = self._process.record()
        if record is not None:
            record = await self._adopt(record, is_shared=is_shared)
        if record is None:
            other = await find_other() if find_other else None
            if other is not None:
                return other
            record = await self._start()
        self._users.try_shared()
        self._record = record
        return ServerAddress(target=record.target, ui_url=record.ui_url, is_shared=is_shared, abandon=self._abandon)

    async def leave(self) -> None:
        """Stop the server if nobody else is left: the one that is alive now, which others may have started again."""
        if self._record is not None:
            async with self.gate():
                if not self._has_other_users():
                    if record := self._process.record(self._record):
                        self._process.kill(record)
                    await self._process.wait_for_end()
        self._users.close()

    def _abandon(self) -> None:
        gate = FileLock(self._home / "server.gate.lock")
        if self._record is None or not gate.try_exclusive():
            return
        if not self._has_other_users() and (record := self._process.record(self._record)):
            self._process.kill(record)

    def _has_other_users(self) -> bool:
        """Look whether somebody else holds the lock; this user's own hold is given up for it."""
        self._users.release()
        if not self._users.try_exclusive():
            return True
        self._users.release()
        return False

    async def _adopt(self, record: ServerRecord, *, is_shared: bool) -> ServerRecord | None:
        """Return a living server once it answers, None if it never does and nobody else uses it."""
        try:
            await self._wait_until_ready(record)
        except Refusal:
            if is_shared:
                raise
            self._process.kill(record)
            await self._process.wait_for_end()
            return None
        return record

    async def _start(self) -> ServerRecord:
        binary = await find_binary(self._home)
        for start in range(STARTS):
            record = self._process.spawn(binary, self._process.ports() if start == 0 else (free_port(), free_port()))
            try:
                await self._wait_until_ready(record)
            except Refusal:
                self._process.kill(record)
                await self._process.wait_for_end()
                if start == STARTS - 1 or not self._process.met_taken_port():
                    raise
            except BaseException:  # whatever ends this process, also a Ctrl-C, leaves no server behind
                self._process.kill(record)
                raise
            else:
                return record
        raise AssertionError

    async def _wait_until_ready(self, record: ServerRecord) -> None:
        deadline = time.monotonic() + self._start_limit.total_seconds()
        while time.monotonic() < deadline:
            if self._process.has_ended:
                raise Refusal(f"The Temporal server ended while starting. Its log says: {self._process.last_words()}")
            with suppress(Refusal, RPCError, TimeoutError):
                async with asyncio.timeout(deadline - time.monotonic()):
                    await _prepare(record)
                    return self._process.note_ready()
            await asyncio.sleep(POLL_S)
        raise Refusal(
            f"The Temporal server (process {record.pid}) did not answer within {self._start_limit.total_seconds():g} s."
            f" Its log says: {self._process.last_words()}"
        )


async def _prepare(record: ServerRecord) -> None:
    """Keep histories long, and mark the server as an embedded one so that other directories leave it alone."""
    client = await connect(ServerAddress(target=record.target))
    await client.workflow_service.update_namespace(
        UpdateNamespaceRequest(
            namespace=NAMESPACE,
            update_info=UpdateNamespaceInfo(data={_MARK: "embedded"}),
            config=NamespaceConfig(workflow_execution_retention_ttl=Duration(seconds=int(RETENTION.total_seconds()))),
        ),
        timeout=timedelta(seconds=5),
    )
