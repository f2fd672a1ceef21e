"""The servers file: `{"mcpServers": {"name": {...}}}`, as MCP clients read it, with a few keys of ours."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from activities.failures import describe_validation
from activities.mcp.entry import START_LIMIT, TIMEOUT, Address, Command, Policy, ServerEntry, ServersFileError
from activities.mcp.secrets import secrets_of, shown
from activities.mcp.variables import UnsetVariableError, Variables
from harness.catalog import Effect
from harness.errors import quoted
from harness.near_match import NearMatches

SERVERS = "mcpServers"
EXAMPLE = '{"mcpServers": {"time": {"command": "mcp-server-time", "args": []}}}'
MAX_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_OF_OTHERS = frozenset(
    {
        "alwaysAllow",
        "autoApprove",
        "description",
        "envFile",
        "excludeTools",
        "includeTools",
        "initTimeout",
        "startupTimeout",
        "timeout",
        "toolTimeout",
        "tools",
        "transport",
        "trust",
    }
)
"""Keys of other clients that look like ours."""


class _Server(BaseModel):
    """One server as it is written."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    type: Literal["stdio", "http", "streamable-http", "streamableHttp"] | None = None
    command: str | None = Field(default=None, min_length=1)
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    allow: list[str] = ["*"]
    effects: dict[str, Effect] = {}
    stable: list[str] = []
    timeout_s: float = Field(default=TIMEOUT.total_seconds(), ge=0.001, le=86_400)
    max_tries: int | None = Field(default=None, ge=1, le=20)
    rate_per_s: float | None = Field(default=None, gt=0, le=10_000)
    start_timeout_s: float = Field(default=START_LIMIT.total_seconds(), ge=0.001, le=3_600)


def server_names(path: Path) -> tuple[str, ...]:
    """Return the names of the servers of a file that are not disabled, sorted; variables are not looked at.

    Raises:
        ServersFileError: when the file cannot be used.
    """
    return tuple(sorted(_enabled(path)))


def read_servers(path: Path, environment: Mapping[str, str], only: Iterable[str] | None = None) -> list[ServerEntry]:
    """Return the servers of a file, with the values of their variables.

    Args:
        path: the file.
        environment: where the variables are.
        only: the names of the servers that are wanted; None for all.

    Raises:
        ServersFileError: when the file, or a server that is wanted, cannot be used.
    """
    servers = _enabled(path)
    wanted = sorted(servers) if only is None else sorted(set(only))
    hints = NearMatches(servers)
    for name in wanted:
        if name not in servers:
            there = ", ".join(sorted(servers)) or "none"
            raise ServersFileError(f"{path}: there is no server {quoted(name)}{hints.hint(name)}; there are: {there}")
    return [_entry(path, name, servers[name], Variables(environment)) for name in wanted]


def _enabled(path: Path) -> dict[str, _Server]:
    servers = {name: _server(path, name, raw) for name, raw in _read(path).items()}
    return {name: server for name, server in servers.items() if not server.disabled}


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ServersFileError(f"{path} has over {MAX_BYTES:,} bytes; a servers file looks like {EXAMPLE}")
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ServersFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ServersFileError(f"{path} is not JSON ({error}); a servers file looks like {EXAMPLE}") from error
    servers = found.get(SERVERS) if isinstance(found, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise ServersFileError(f"{path} names no servers under {SERVERS!r}; it should look like {EXAMPLE}")
    return servers


def _server(path: Path, name: str, raw: object) -> _Server:
    where = f"{path}: server {quoted(name)}"
    if not _NAME.fullmatch(name):
        raise ServersFileError(f"{where}: a name has letters, digits, '_', '-' or '.', and at most 40 of them")
    if not isinstance(raw, dict):
        raise ServersFileError(f"{where} must be an object, such as {EXAMPLE}")
    if raw.get("type") == "sse" or raw.get("transport") == "sse":
        raise ServersFileError(f"{where}: the transport 'sse' is not served; use the server's streamable HTTP address")
    _refuse_misspelt(where, raw)
    try:
        return _Server.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise ServersFileError(f"{where}: {describe_validation(error)}") from None


def _refuse_misspelt(where: str, raw: dict[str, object]) -> None:
    """Refuse what is nearly a key of ours; what is nothing like one belongs to another client."""
    hints = NearMatches(_Server.model_fields)
    for key in raw:
        if key not in _Server.model_fields and key not in _OF_OTHERS and (hint := hints.hint(key)):
            raise ServersFileError(f"{where}: the key {quoted(key)} is unknown{hint}")


def _entry(path: Path, name: str, server: _Server, variables: Variables) -> ServerEntry:
    where = f"{path}: server {quoted(name)}"
    try:
        place = _place(where, server, variables)
    except UnsetVariableError as error:
        raise ServersFileError(
            f"{where} needs the variable {error}, which is not set; "
            f"set it where the worker runs, or write ${{{error}:-default}}"
        ) from None
    secrets = tuple(dict.fromkeys([*variables.secrets, *secrets_of(place)]))
    policy = Policy(
        allow=tuple(server.allow),
        effects=server.effects,
        stable=tuple(server.stable),
        timeout=timedelta(seconds=server.timeout_s),
        max_tries=server.max_tries,
        per_second=server.rate_per_s,
    )
    return ServerEntry(
        name=name,
        place=place,
        shown=shown(place, secrets),
        policy=policy,
        start_limit=timedelta(seconds=server.start_timeout_s),
        secrets=secrets,
    )


def _place(where: str, server: _Server, variables: Variables) -> Command | Address:
    is_http = server.url is not None
    if is_http == (server.command is not None) or (is_http and server.type == "stdio"):
        raise ServersFileError(f"{where}: it needs either a 'command', or a 'url' with \"type\": \"http\"")
    if server.url is None:
        return Command(
            program=variables.fill(server.command or ""),
            args=tuple(map(variables.fill, server.args)),
            env={key: variables.fill(value) for key, value in server.env.items()},
            cwd=variables.fill(server.cwd) if server.cwd else None,
        )
    url = variables.fill(server.url)
    if not _is_http(url):
        raise ServersFileError(
            f"{where}: 'url' must be an http or https URL with a host, such as https://example.com/mcp"
        )
    headers = {key: variables.fill(value) for key, value in server.headers.items()}
    return Address(url=url, headers=headers)


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
