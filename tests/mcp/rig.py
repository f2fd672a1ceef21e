"""What tests of MCP servers share: servers files, and the ends of processes."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from activities.tool_context import ToolContext
from harness.usage import Usage

HERE = Path(__file__).parent
SCRIPTED = HERE / "scripted_server.py"
RAW = HERE / "raw_server.py"


class NoModel:
    """Stands where a model would be."""

    usage = Usage()

    async def ask(self, request: object) -> object:
        """Refuse."""
        raise AssertionError(request)


def servers_file(folder: Path, **servers: dict[str, Any]) -> Path:
    """Write a servers file."""
    path = folder / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def scripted(notes: Path, **keys: Any) -> dict[str, Any]:
    """Return the entry of the scripted server."""
    return {"command": sys.executable, "args": [str(SCRIPTED), str(notes)], **keys}


def raw(how: str, notes: Path, **keys: Any) -> dict[str, Any]:
    """Return the entry of a server that misbehaves."""
    return {"command": sys.executable, "args": [str(RAW), how, str(notes)], **keys}


def beside_python(program: str, *args: str, **keys: Any) -> dict[str, Any]:
    """Return the entry of a server that a package installed into this environment."""
    return {"command": str(Path(sys.executable).parent / program), "args": list(args), **keys}


def context(**fields: Any) -> ToolContext:
    """Return the context of a call outside of any run."""
    given = {"run_id": "run-1", "node_id": "n", "try_number": 1, "idempotency_key": "run-1/n"} | fields
    return ToolContext(deadline=datetime.now(UTC), model=NoModel(), max_tokens=0, **given)


async def noted(path: Path, *, within_s: float = 20) -> str:
    """Wait until a note is there, and return it."""
    await until(lambda: bool(_text(path)), within_s=within_s)
    return _text(path)


async def until(is_so: Callable[[], bool], *, within_s: float = 20) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(within_s):
        while not is_so():  # noqa: ASYNC110 - other processes set no events
            await asyncio.sleep(0.02)


def kill(pid: str) -> None:
    """End a process at once."""
    os.kill(int(pid), signal.SIGKILL)


async def gone(pid: str, *, within_s: float = 10) -> bool:
    """Wait for the end of a process; False if it goes on."""
    try:
        await until(lambda: not is_alive(pid), within_s=within_s)
    except TimeoutError:
        return False
    return True


def is_alive(pid: str) -> bool:
    """Return whether a process is there; one that has ended and waits to be buried is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
