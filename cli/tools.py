"""The command that lists tools, and lints them. Toolkits are loaded in this process: it needs no Temporal server."""

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path

from activities.mcp.entry import ServersFileError
from activities.mcp.toolkits import NO_FILE
from activities.toolkit import Toolkit, ToolkitError
from activities.toolkit_loading import load_toolkit
from cli.exit_codes import ExitCode, Refusal
from cli.import_place import with_place
from cli.plain_text import answer
from cli.render import as_json
from cli.tool_lines import finding_line, tool_lines
from harness.tool_lint import lint
from harness.toolkit_names import DEFAULT_TOOLKIT, server_parts


async def list_tools(name: str | None, mcp: Path | None, *, as_json_text: bool) -> ExitCode:
    """Print every tool of a toolkit, with what it takes and gives."""
    toolkit = await _loaded(DEFAULT_TOOLKIT if name is None else name, mcp)
    tools = [tool.spec for tool in toolkit.tools]
    if as_json_text:
        answer(json.dumps({"toolkit": toolkit.name, "tools": [tool.model_dump(mode="json") for tool in tools]}))
    else:
        for tool in tools:
            answer(*tool_lines(tool), "")
        answer(_count(len(tools), "tool", toolkit))
    return ExitCode.SUCCEEDED


async def lint_tools(name: str | None, mcp: Path | None, *, as_json_text: bool) -> ExitCode:
    """Print what makes tools hard to use for a model; the exit code is 1 when there is anything."""
    toolkit = await _loaded(DEFAULT_TOOLKIT if name is None else name, mcp)
    findings = lint([tool.spec for tool in toolkit.tools])
    if as_json_text:
        answer(as_json({"toolkit": toolkit.name, "findings": findings}))
    else:
        answer(*map(finding_line, findings), _count(len(findings), "finding", toolkit))
    return ExitCode.FAILED if findings else ExitCode.SUCCEEDED


async def _loaded(name: str, mcp: Path | None) -> Toolkit:
    try:
        async with _servers(name, mcp) as servers:
            with redirect_stdout(sys.stderr):  # stdout belongs to the answer, and a module may print while it loads
                return load_toolkit(name, servers)
    except ServersFileError as error:
        raise Refusal(f"--mcp: {error}") from error
    except ToolkitError as error:
        raise Refusal(with_place(error)) from error


@asynccontextmanager
async def _servers(name: str, mcp: Path | None) -> AsyncIterator[Mapping[str, Toolkit]]:
    """Open the MCP servers that a toolkit needs, and close them again."""
    parts = server_parts(name)
    if not parts:
        yield {}
        return
    if mcp is None:
        raise ToolkitError(f"no toolkit is called {parts[0]!r}: {NO_FILE}")
    from activities.mcp.servers import open_servers  # the SDK takes half a second to import

    async with open_servers(mcp, os.environ, wanted=[name]) as servers:
        yield servers


def _count(count: int, what: str, toolkit: Toolkit) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'} of {toolkit.name}"
