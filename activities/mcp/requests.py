"""Requests: what goes along with a call of ours, and the whole list of a server's tools."""

import mcp_types as types
from mcp import Client
from mcp.shared.dispatcher import ProgressFnT

from activities.tool_context import ToolContext

MAX_PAGES = 100
"""Pages of tools that are read; a list without an end stops there."""
IDEMPOTENCY_KEY = "whippletree/idempotency-key"
"""Where a server finds the call's idempotency key, in `_meta`."""


def meta_of(context: ToolContext) -> types.RequestParamsMeta:
    """Return the idempotency key of a call as its `_meta`."""
    meta: types.RequestParamsMeta = {IDEMPOTENCY_KEY: context.idempotency_key}  # type: ignore[misc]
    return meta


def heartbeats(context: ToolContext) -> ProgressFnT:
    """Return what turns a server's progress into heartbeats of a call."""

    async def heartbeat(progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        context.heartbeat(f"{share}: {message}" if message else share)

    return heartbeat


async def offered_tools(client: Client) -> list[types.Tool]:
    """Return the tools that a server offers now, all pages of them.

    Raises:
        MCPError: when the server does not tell.
    """
    found: list[types.Tool] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
