"""Servers from elsewhere: they are installed or fetched when they are asked for, which takes a minute and a network."""

import os
import subprocess
import venv
from pathlib import Path
from shutil import which

import pytest
from temporalio.client import Client

from harness.run import RunStatus
from tests.mcp.rig import servers_file
from tests.mcp.test_runs import staged, steps

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(
        not os.environ.get("WHIPPLETREE_SLOW_TESTS"),
        reason="fetches packages: set WHIPPLETREE_SLOW_TESTS=1 to run it",
    ),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="session")
def sqlite_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install mcp-server-sqlite, which needs an SDK older than ours, into an environment of its own."""
    home = tmp_path_factory.mktemp("older")
    venv.create(home, with_pip=True)
    install = [str(home / "bin" / "python"), "-m", "pip", "install", "-q", "mcp-server-sqlite", "mcp<2"]
    subprocess.run(install, check=True, timeout=240)
    return home / "bin" / "mcp-server-sqlite"


async def test_an_older_server_serves_a_run(client: Client, tmp_path: Path, sqlite_server: Path) -> None:
    entry = {"command": str(sqlite_server), "args": ["--db-path", str(tmp_path / "x.db")]}
    path = servers_file(
        tmp_path, sqlite=entry | {"effects": {"create_table": "IDEMPOTENT_WRITE", "read_query": "READ"}}
    )
    script = steps(
        make=("sqlite_create_table", {"query": "CREATE TABLE IF NOT EXISTS t (name TEXT)"}),
        fill=("sqlite_write_query", {"query": "INSERT INTO t VALUES ('Grüße')"}),
        look=("sqlite_read_query", {"query": "SELECT name FROM t"}),
    )

    async with staged(client, path, script) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert "Grüße" in str(result.report)


@pytest.mark.skipif(which("npx") is None, reason="there is no npx: install Node to run it")
async def test_the_reference_server_of_npm_serves_a_run(client: Client, tmp_path: Path) -> None:
    command = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"], "start_timeout_s": 120}
    path = servers_file(tmp_path, every=command)
    script = steps(
        echo=("every_echo", {"message": "Grüße"}),
        sum=("every_get-sum", {"a": "2", "b": "3"}),
        image=("every_get-tiny-image", {}),
        weather=("every_get-structured-content", {"location": "Chicago"}),
        long=("every_trigger-long-running-operation", {"duration": "1", "steps": "2"}),
    )

    async with staged(client, path, script) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert "Echo: Grüße" in str(result.report)
    assert "The sum of 2 and 3 is 5" in str(result.report)
    assert "'mime_type': 'image/png'" in str(result.report)
