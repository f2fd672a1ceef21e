"""One server of a servers file: how to reach it, and what its tools may do here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase

from activities.toolkit import ToolkitError
from harness.catalog import Effect
from harness.toolkit_names import toolkit_of_server

"""Stands before the name of a server in the name of its toolkit."""
TIMEOUT = timedelta(seconds=30)
"""Time limit of a call where the file says nothing."""
START_LIMIT = timedelta(seconds=30)
"""How long a server may take to start and to name its tools, where the file says nothing."""


class ServersFileError(ToolkitError):
    """A servers file cannot be used. The message is one line, names file and server, and never shows a secret."""


@dataclass(frozen=True)
class Command:
    """A server that runs as a process of the worker and talks over its standard streams."""

    program: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Added to the few variables that every server gets: PATH, HOME and the like."""
    cwd: str | None = None


@dataclass(frozen=True)
class Address:
    """A server that is reached by streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Policy:
    """What the tools of a server may do, beyond what the server says of them. Names are those that the server uses."""

    allow: tuple[str, ...] = ("*",)
    """Patterns of the tools that exist at all."""
    effects: Mapping[str, Effect] = field(default_factory=dict)
    """Effect by name or pattern; a name goes before a pattern, an earlier pattern before a later one."""
    stable: tuple[str, ...] = ()
    """Patterns of READs whose answers do not change within a run."""
    timeout: timedelta = TIMEOUT
    max_tries: int | None = None
    per_second: float | None = None
    """Calls a second of all its tools together, from all workers."""

    def allows(self, tool: str) -> bool:
        """Return whether a tool exists for this worker."""
        return any(fnmatchcase(tool, pattern) for pattern in self.allow)

    def effect(self, tool: str) -> Effect | None:
        """Return the effect that the file gives to a tool."""
        if tool in self.effects:
            return self.effects[tool]
        return next((effect for pattern, effect in self.effects.items() if fnmatchcase(tool, pattern)), None)

    def is_stable(self, tool: str) -> bool:
        """Return whether the answers of a READ stay the same within a run."""
        return any(fnmatchcase(tool, pattern) for pattern in self.stable)


@dataclass(frozen=True)
class ServerEntry:
    """One server of a servers file."""

    name: str
    place: Command | Address
    shown: str
    """Its program with the first argument, or its URL without credentials and query, for people."""
    policy: Policy = field(default_factory=Policy)
    start_limit: timedelta = START_LIMIT
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values in its entry that no error, log or result may show."""

    @property
    def toolkit(self) -> str:
        """Return the name of the toolkit of its tools."""
        return toolkit_of_server(self.name)
