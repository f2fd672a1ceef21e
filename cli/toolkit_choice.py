"""Which toolkits a run has and a worker serves, by flags and the servers file."""

from collections.abc import Sequence
from pathlib import Path

from cli.exit_codes import Refusal
from harness.toolkit_names import joined, server_parts, toolkit_of_server


def toolkit_of_run(toolkits: Sequence[str], mcp: Path | None, *, is_mcp_flag: bool) -> str | None:
    """Return the joined name of a run's toolkits; None leaves the choice to the default.

    Named toolkits are the whole choice, but --mcp beside them, none of which is a server, adds all servers of its file.
    """
    has_server = any(map(server_parts, toolkits))
    adds_servers = mcp is not None and not has_server and (is_mcp_flag or not toolkits)
    names = [*toolkits, *(_servers_of(mcp) if adds_servers else ())]
    return joined(names) if names else None


def toolkits_of_worker(toolkits: Sequence[str], mcp: Path | None, *, default: str) -> tuple[str, ...]:
    """Return the joined names that a worker serves, each in a task queue of its own.

    These are: what --toolkit names; each server of the file, and all of them together; what --toolkit names, each
    together with all servers.
    """
    if mcp is None:
        return tuple(dict.fromkeys(joined([name]) for name in toolkits or (default,)))
    servers = _servers_of(mcp)
    together = [joined([name, *servers]) for name in toolkits]
    return tuple(dict.fromkeys([*(joined([name]) for name in toolkits), *servers, joined(servers), *together]))


def _servers_of(mcp: Path | None) -> tuple[str, ...]:
    """Return the toolkits of all servers of a file.

    Raises:
        Refusal: when the file cannot be used.
    """
    if mcp is None:
        return ()
    from activities.mcp.entry import ServersFileError
    from activities.mcp.servers_file import server_names

    try:
        names = server_names(mcp)
    except ServersFileError as error:
        raise Refusal(f"--mcp: {error}") from error
    if not names:
        raise Refusal(f"--mcp: {mcp} has no server that is not disabled.")
    return tuple(map(toolkit_of_server, names))
