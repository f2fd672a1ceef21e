"""The worker and the starter as processes, with the servers of a file."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from temporalio.client import Client

from cli.exit_codes import ExitCode, Refusal
from cli.main import _with_servers, command
from cli.pollers import how_to_serve
from cli.toolkit_choice import toolkit_of_run, toolkits_of_worker
from tests.mcp.rig import beside_python, gone, raw, scripted, servers_file
from tests.test_worker import line_with, rest, worker
from workflows.payload_storage import store_of

ROOT = Path(__file__).parents[2]
BOTH = ("mcp:git", "mcp:time", "mcp:git+mcp:time")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return servers_file(tmp_path, time={"command": "x"}, git={"command": "${NOT_LOOKED_AT}"})


def test_a_worker_serves_each_server_and_all_together(two: Path) -> None:
    games = ("games", *BOTH, "games+mcp:git+mcp:time")

    assert toolkits_of_worker([], two, default="games") == BOTH
    assert toolkits_of_worker(["games"], two, default="games") == games
    assert toolkits_of_worker(["mcp:time+games"], two, default="games")[0] == "games+mcp:time"
    assert toolkits_of_worker([], None, default="games") == ("games",)
    assert toolkits_of_worker(["b+a", "a+b"], None, default="games") == ("a+b",)


def test_a_run_uses_all_servers_unless_it_names_some(two: Path) -> None:
    everything = "mcp:git+mcp:time"

    assert toolkit_of_run([], two, is_mcp_flag=True) == everything
    assert toolkit_of_run([], two, is_mcp_flag=False) == everything
    assert toolkit_of_run(["mcp:time"], two, is_mcp_flag=True) == "mcp:time"
    assert toolkit_of_run(["games"], two, is_mcp_flag=True) == f"games+{everything}"
    assert toolkit_of_run(["games"], two, is_mcp_flag=False) == "games"
    assert toolkit_of_run(["b", "a"], None, is_mcp_flag=False) == "a+b"
    assert toolkit_of_run([], None, is_mcp_flag=False) is None


def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"none\.json cannot be read") as refused:
        toolkit_of_run([], tmp_path / "none.json", is_mcp_flag=True)

    assert refused.value.code is ExitCode.USAGE


def test_commands_that_take_over_a_run_open_its_servers(two: Path) -> None:
    def factory(*_: object, mcp: Path | None = None) -> Path | None:
        return mcp

    for name in ("watch", "cancel"):
        context = command.commands[name].make_context(name, ["--mcp", str(two), "run-1"])
        assert context.params["mcp"] == two
    assert _with_servers(factory, two)() == two
    assert _with_servers(factory, None)() is None


def test_a_missing_worker_is_told_with_the_file() -> None:
    assert how_to_serve("whippletree.mcp:git") == "start one with `python worker.py --mcp FILE --toolkit mcp:git`"


async def started(client: Client, *words: str, **settings: str) -> tuple[int, str, str]:
    """Run starter.py with a worker in its process against the shared server."""
    store = store_of(client.data_converter)
    assert store
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("TEMPORAL_", "OPENAI_", "WHIPPLETREE_"))}
    shared = {"TEMPORAL_ADDRESS": client.service_client.config.target_host, "WHIPPLETREE_ARTIFACTS": store.name}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "starter.py",
        *words,
        cwd=ROOT,
        env=plain | shared | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    stdout, stderr = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, stdout.decode(), stderr.decode()


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("by", ["flag", "variable"])
async def test_a_goal_is_reached_with_nothing_but_a_servers_file(client: Client, tmp_path: Path, by: str) -> None:
    path = str(servers_file(tmp_path, time=beside_python("mcp-server-time", rate_per_s=20)))
    words = ["--with-worker", "--json", "--goal", "What time is it in Tokyo?"]

    if by == "flag":
        code, answer, said = await started(client, "--mcp", path, *words)
    else:
        code, answer, said = await started(client, *words, WHIPPLETREE_MCP=path)

    assert code == 0, said
    result = json.loads(answer)
    assert result["status"] == "SUCCEEDED"
    assert "Asia/Tokyo" in json.dumps(result["report"])


@pytest.mark.asyncio(loop_scope="session")
async def test_a_worker_serves_runs_of_servers_and_takes_them_with_it(client: Client, tmp_path: Path) -> None:
    path = servers_file(tmp_path, it=scripted(tmp_path, allow=["echo"]), time=beside_python("mcp-server-time"))

    async with worker(client, "--mcp", str(path), "--toolkit", "games") as process:
        serving = await line_with(process, "Serving")
        code, _, said = await started(client, "--toolkit", "mcp:time", "--goal", "What time is it in Rome?", "--json")
        pid = (tmp_path / "pid").read_text()
        process.send_signal(signal.SIGTERM)
        await rest(process)

    assert "games, mcp:it, mcp:time, mcp:it+mcp:time, games+mcp:it+mcp:time on" in serving
    assert code == 0, said
    assert process.returncode == 0
    assert await gone(pid)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_worker_whose_server_does_not_start_refuses_in_one_line(client: Client, tmp_path: Path) -> None:
    path = servers_file(tmp_path, it=raw("dying", tmp_path))

    async with worker(client, "--mcp", str(path)) as process:
        said = await rest(process)

    assert process.returncode == ExitCode.USAGE
    assert "The worker cannot start: MCP server 'it'" in said
    assert "it said: the database is locked" in said
    assert "Traceback" not in said


@pytest.mark.asyncio(loop_scope="session")
async def test_a_server_without_a_file_is_refused_with_what_to_do(client: Client) -> None:
    async with worker(client, "--toolkit", "mcp:time") as process:
        said = await rest(process)

    assert "no toolkit is called 'mcp:time': say which server that is by a servers file: --mcp FILE" in said
