"""The servers of a worker: all sessions together, for as long as it serves."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from activities.mcp.entry import ServersFileError
from activities.mcp.sdk_log import tamed_log
from activities.mcp.servers_file import read_servers
from activities.mcp.session import ServerSession
from activities.mcp.toolkits import McpToolkits
from activities.mcp.tools import tool_of
from activities.model.scrubbing import hide
from activities.toolkit import Toolkit
from harness.errors import bounded, listed, quoted
from harness.near_match import NearMatches
from harness.toolkit_names import server_of_toolkit, server_parts

MAX_GUIDANCE = 2_000
"""Characters of a server's instructions: they are in every planning prompt."""


@asynccontextmanager
async def open_servers(
    path: Path, environment: Mapping[str, str], *, wanted: Iterable[str] | None = None
) -> AsyncIterator[McpToolkits]:
    """Open sessions with servers of a file, and close them when the body ends.

    Args:
        path: the servers file.
        environment: where the variables of the file are.
        wanted: the toolkits that are needed, joined names as well; None for all servers of the file.

    Raises:
        ServersFileError: when the file cannot be used, or a server does not start within its time.
    """
    names = None if wanted is None else {server_of_toolkit(part) for name in wanted for part in server_parts(name)}
    sessions = [ServerSession(entry) for entry in read_servers(path, environment, names)]
    secrets = tuple(secret for session in sessions for secret in session.entry.secrets)
    kits = {session.entry.toolkit: partial(_toolkit, session) for session in sessions}
    toolkits = McpToolkits(kits, secrets)
    with tamed_log(secrets):
        try:
            await _start(sessions)
            for session in sessions:
                session.on_change = toolkits.change
            yield toolkits
        finally:
            await asyncio.gather(*(session.close() for session in sessions))


async def _start(sessions: Sequence[ServerSession]) -> None:
    """Open all sessions at once; every server that does not start is named."""
    outcomes = await asyncio.gather(*(session.start() for session in sessions), return_exceptions=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    for failure in failures:
        if not isinstance(failure, ServersFileError):
            raise failure
    problems = [str(failure) for failure in failures] or [each for session in sessions for each in _misnamed(session)]
    if problems:
        raise ServersFileError("; ".join(problems))


def _toolkit(session: ServerSession) -> Toolkit:
    tools = tuple(tool_of(offered, session.entry, session, version=session.version) for offered in session.tools)
    return Toolkit(
        name=session.entry.toolkit,
        tools=tools,
        guidance=bounded(hide(session.instructions, session.entry.secrets), MAX_GUIDANCE),
    )


def _misnamed(session: ServerSession) -> Iterator[str]:
    """Yield what the file says of tools that are not there: a slip would change what may happen."""
    policy, server = session.entry.policy, f"MCP server {session.entry.name!r}"
    names = [tool.name for tool in session.tools]
    if not names:
        yield f"{server} has no tool that 'allow' ({listed(policy.allow)}) lets through"
        return
    hints = NearMatches(names)
    for key, patterns in (("allow", policy.allow), ("effects", policy.effects), ("stable", policy.stable)):
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                hint = hints.hint(pattern)
                yield f"{server}: {key!r} names {quoted(pattern)}, which fits none of {listed(names)}{hint}"
