"""A model server on loopback that answers by a script, and counts requests and open connections."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """One scripted answer."""

    status: int = 200
    body: Any = None
    """JSON value; text and bytes are sent as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_hanging: bool = False
    """True to answer nothing until the client goes away."""
    is_reset: bool = False
    """True to cut the connection in place of an answer."""


@dataclass(frozen=True)
class Seen:
    """One request as the server got it."""

    path: str
    headers: Mapping[str, str]
    """Names in small letters."""
    body: dict[str, Any]


Answering = Reply | Callable[[Seen], Reply]
"""An answer, or what makes one of a request."""


def completion(
    text: str | None, *, finish: str | None = "stop", usage: Any = "default", model: str = "scripted-1", **message: Any
) -> dict[str, Any]:
    """Return the body of a chat completion. `usage=None` sends null, "absent" leaves it out."""
    if usage == "default":
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
    }
    return body if usage == "absent" else {**body, "usage": usage}


def error(message: str, *, code: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an error body as OpenAI sends it."""
    return {"error": {"message": message, "type": "some_error", "param": None, "code": code, **fields}}


class ScriptedServer:
    """Serves its replies in order; the last one is repeated."""

    def __init__(self, *replies: Answering) -> None:
        self._replies = list(replies)
        self._handlers: set[asyncio.Task[None]] = set()
        self.requests: list[Seen] = []
        self.open_connections = 0
        self.request_seen = asyncio.Event()
        self.client_left = asyncio.Event()
        """Set when a client closed a connection that had no answer yet."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    @property
    def url(self) -> str:
        """Base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self.open_connections += 1
        try:
            while seen := await _read_request(reader):
                self.requests.append(seen)
                self.request_seen.set()
                reply = self._next_reply()
                if not await self._answer(reply if isinstance(reply, Reply) else reply(seen), reader, writer):
                    return
        except (asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self.open_connections -= 1
            self._handlers.discard(task)
            writer.close()

    def _next_reply(self) -> Answering:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if reply.is_reset:
            writer.transport.abort()
            return False
        if reply.is_hanging:
            await reader.read()
            self.client_left.set()
            return False
        is_raw = isinstance(reply.body, str | bytes)
        content = reply.body if is_raw else json.dumps(reply.body)
        payload = content.encode() if isinstance(content, str) else content
        headers = {
            "content-type": "text/html" if is_raw else "application/json",
            "content-length": str(len(payload)),
            **reply.headers,
        }
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + payload)
        await writer.drain()
        return True


async def _read_request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(first.split(" ")[1], headers, json.loads(body or b"{}"))
