"""Names of toolkits: several that serve a run together have one name, and an MCP server has one, too."""

from collections.abc import Iterable

DEFAULT_TOOLKIT = "games"
_TOGETHER = "+"
_SERVER = "mcp:"


def joined(toolkits: Iterable[str]) -> str:
    """Return the one name of several toolkits that serve a run together, each of which may be such a name itself."""
    return _TOGETHER.join(sorted({part for name in toolkits for part in parts_of(name)}))


def parts_of(toolkit: str) -> tuple[str, ...]:
    """Return the toolkits that a joined name stands for."""
    return tuple(toolkit.split(_TOGETHER))


def toolkit_of_server(server: str) -> str:
    """Return the name of the toolkit that an MCP server is."""
    return f"{_SERVER}{server}"


def server_of_toolkit(toolkit: str) -> str:
    """Return the MCP server that a toolkit is, one of those that `server_parts` returns."""
    return toolkit.removeprefix(_SERVER)


def server_parts(toolkit: str) -> tuple[str, ...]:
    """Return the toolkits of MCP servers among those that a name stands for."""
    return tuple(part for part in parts_of(toolkit) if part.startswith(_SERVER))
