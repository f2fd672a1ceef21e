"""Sessions: calls of a server's tools on the session that its keeper holds open."""

import anyio
import mcp_types as types
from mcp import MCPError
from pydantic import JsonValue

from activities.mcp.errors import is_session_gone, tool_error
from activities.mcp.keeper import SessionKeeper
from activities.mcp.requests import heartbeats, meta_of
from activities.mcp.transport import Refused, refused_call
from activities.tool_context import ToolContext
from harness.catalog import ToolSpec
from harness.errors import ErrorCode, NothingDoneError

WAIT_SHARE = 0.8
"""Share of a call's time that it waits for a session."""
_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, RuntimeError, ValueError)
"""What the SDK raises when a session breaks under a call, or when an answer is none."""


class ServerSession(SessionKeeper):
    """A session with one server, on which its tools are called."""

    async def call(
        self, tool: types.Tool, spec: ToolSpec, arguments: dict[str, JsonValue], context: ToolContext
    ) -> types.CallToolResult:
        """Call a tool. The caller limits the time; a call that is cancelled is cancelled at the server as well.

        Raises:
            NothingDoneError: PROVIDER_UNAVAILABLE when there is no session to call it on.
            ReportedError: PROVIDER_UNAVAILABLE when the server has gone, or what it answered instead of a result.
        """
        try:
            client = await self.ready_client(WAIT_SHARE * spec.timeout.total_seconds())
        except TimeoutError:
            raise self._not_sent(spec, "is not there, and is looked for again and again") from None
        refused = Refused()
        refused_call.set(refused)
        try:
            return await client.call_tool(
                tool.name, arguments, progress_callback=heartbeats(context), meta=meta_of(context)
            )
        except (MCPError, *_BROKEN) as error:
            if refused.is_unsent:
                raise self._not_sent(spec, "cannot be reached") from error
            if isinstance(error, MCPError) and is_session_gone(error):
                self.lose()
                raise self._not_sent(spec, "no longer knew the session") from error
            raise tool_error(error, tool=spec.name, server=self.entry.name, refused=refused) from error

    def _not_sent(self, spec: ToolSpec, what: str) -> NothingDoneError:
        said = f"; it said: {self.last_words.text}" if self.last_words.text else ""
        return NothingDoneError(
            ErrorCode.PROVIDER_UNAVAILABLE,
            f"{spec.name}: the MCP server {self.entry.name!r} {what}, so nothing was done{said}",
        )
