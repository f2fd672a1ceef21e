"""An MCP server whose tools do what a test needs. Arguments: the folder of its notes, and the port for HTTP, if any."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, TextContent, ToolAnnotations

READ = ToolAnnotations(read_only_hint=True)
REPEATABLE = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=False)
PIXEL = "iVBORw0KGgo="
server = MCPServer("scripted", version="7", instructions="Ask for little.")
notes = Path(sys.argv[1])


@server.tool(annotations=READ)
async def wait_for_it() -> str:
    """Wait for ever, once; then answer."""
    return await _wait_once("wait_for_it")


@server.tool()
async def change_it() -> str:
    """Wait for ever, once; then answer. Says nothing of what it changes."""
    return await _wait_once("change_it")


@server.tool(annotations=REPEATABLE)
async def key_of(ctx: Context) -> Any:
    """Return the idempotency key."""
    return {"key": (ctx.request_context.meta or {}).get("whippletree/idempotency-key", "")}


@server.tool(annotations=READ)
async def huge(size: int) -> str:
    """Return a long text."""
    return "x" * size


@server.tool(annotations=READ)
async def echo(text: str) -> str:
    """Return what was given."""
    return text


@server.tool(annotations=READ)
async def secret_of(name: str) -> str:
    """Return a variable of the server's environment."""
    return f"{name} is {os.environ.get(name)}"


@server.tool(annotations=READ)
async def steps(ctx: Context) -> str:
    """Report progress."""
    for number in range(3):
        await ctx.report_progress(number, 3, f"step {number}")
    return "done"


@server.tool(annotations=READ)
async def picture() -> CallToolResult:
    """Return an image beside a text."""
    image = ImageContent(type="image", data=PIXEL, mime_type="image/png")
    return CallToolResult(content=[TextContent(type="text", text="here"), image])


@server.tool(annotations=READ)
async def fail(why: str) -> str:
    """Fail."""
    raise ToolError(why)


@server.tool(annotations=READ)
async def grow(ctx: Context) -> str:
    """Offer one more tool."""
    server.add_tool(grown, annotations=READ)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "grown"


async def grown() -> str:
    """Be new."""
    return "new"


async def _wait_once(name: str) -> str:
    mark = notes / name
    if mark.exists():
        return f"{name} at last"
    mark.write_text(str(os.getpid()))
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        (notes / f"{name}.cancelled").write_text("cancelled")
        raise
    return "too late"


if __name__ == "__main__":
    (notes / "pid").write_text(str(os.getpid()))
    if len(sys.argv) > 2:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run()
