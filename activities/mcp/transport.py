"""Transports: how messages reach a server, and how it is noticed that they no longer do."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import anyio
import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from activities.mcp.entry import Address, Command, ServerEntry
from activities.mcp.last_words import LastWords

Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]
CONNECT_LIMIT_S = 10.0
LEAST_READ_LIMIT_S = 300.0
"""Between two parts of an answer, at the least: the SDK gives up listening to a server that is silent for longer."""
SPARE_S = 30.0
"""How much later than a call, or a start, its HTTP request may end: each has its own limit, which tells why."""


@dataclass
class Refused:
    """What HTTP has to say about the requests of the current call, when they failed."""

    status: int = 0
    """With which the server refused them; 0 when it did not."""
    retry_after_s: float | None = None
    is_unsent: bool = False
    """True when no connection came about, so that the server cannot have heard of the call."""


refused_call: ContextVar[Refused | None] = ContextVar("refused_call", default=None)
"""Set by a call before it sends; the SDK keeps the status of an answer to itself."""


@asynccontextmanager
async def opened(entry: ServerEntry, last_words: LastWords, on_end: Callable[[], None]) -> AsyncIterator[Streams]:
    """Open the way to a server: start its process, or make a client of its address.

    Args:
        entry: the server.
        last_words: gets what the process writes to its standard error.
        on_end: called when nothing more will come from the server.

    Raises:
        OSError: when the process cannot be started.
    """
    match entry.place:
        case Command() as command:
            async with last_words.listening() as sink, stdio_client(_parameters(command), sink) as (read, write):
                sink.close()  # the process has it; whoever else holds it open keeps its end from being seen
                yield Watched(read, on_end), write
        case Address() as address:
            async with (
                client_of(address, entry) as client,
                streamable_http_client(address.url, http_client=client) as streams,
            ):
                yield Watched(streams[0], on_end), streams[1]


class Watched:
    """A stream of messages that tells when it has ended."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], on_end: Callable[[], None]) -> None:
        """Read from a stream, and call `on_end` at its end."""
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> object:
        """Return the context of the last message's sender, where the stream knows it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._on_end()
            raise

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> "Watched":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self._stream.__anext__()
        except (StopAsyncIteration, anyio.ClosedResourceError):
            self._on_end()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


def _parameters(command: Command) -> StdioServerParameters:
    return StdioServerParameters(
        command=command.program,
        args=list(command.args),
        env=dict(command.env),
        cwd=command.cwd,
        encoding_error_handler="replace",  # "strict" would end the session over one wrong byte
    )


def client_of(address: Address, entry: ServerEntry) -> httpx2.AsyncClient:
    """Return an HTTP client for a server, which waits for an answer for as long as a call of it may take."""
    longest_s = max(entry.policy.timeout, entry.start_limit).total_seconds() + SPARE_S
    limits = httpx2.Timeout(CONNECT_LIMIT_S, read=max(longest_s, LEAST_READ_LIMIT_S))
    return _NotingClient(headers=dict(address.headers), timeout=limits, event_hooks={"response": [_note_refusal]})


class _NotingClient(httpx2.AsyncClient):
    """Notes what the SDK does not tell: that a request was never sent."""

    async def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:  # noqa: ANN401 - as the base class
        """See base class."""
        try:
            return await super().send(request, **how)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            note = refused_call.get()
            if note is not None:
                note.is_unsent = True
            raise


async def _note_refusal(response: httpx2.Response) -> None:
    note = refused_call.get()
    if note is not None and response.is_error:
        note.status = response.status_code
        after = response.headers.get("retry-after", "")
        note.retry_after_s = float(after) if after.isdecimal() else None
