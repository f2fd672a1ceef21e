"""Plan runs whose tools are those of MCP servers."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.mcp.servers import open_servers
from activities.toolkit import Toolkit
from harness.errors import ErrorCode
from harness.plan import Plan
from harness.run import RunResult, RunStatus
from tests.builders import literal, node, plan, results_of
from tests.cli.shell import free_port
from tests.mcp.rig import SCRIPTED, beside_python, kill, noted, scripted, servers_file, until
from tests.stage import ScriptedTools, Stage, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def staged(client: Client, path: Path, *script: Plan) -> AsyncIterator[Stage]:
    """Set the stage with the tools of all servers of a file, and the stage's own report."""
    async with open_servers(path, os.environ) as servers:
        tools = [tool for kit in servers.values() for tool in kit.tools]

        def with_report(scripted_tools: ScriptedTools) -> Toolkit:
            kit = scripted_tools.toolkit()
            return replace(kit, tools=(*tools, *(each for each in kit.tools if each.spec.name == "write_report")))

        async with stage(client, *script, toolkit=with_report) as it:
            yield it


def steps(**calls: tuple[str, dict[str, str]]) -> Plan:
    """Return a plan of these calls, one after the other, and a report on all of them."""
    nodes = []
    for name, (tool, arguments) in calls.items():
        deps = [nodes[-1].id] if nodes else []
        nodes.append(node(name, tool, deps=deps, arguments={key: literal(value) for key, value in arguments.items()}))
    ids = [each.id for each in nodes]
    return plan(*nodes, node("report", "write_report", deps=ids, arguments={"sources": results_of(*ids)}))


def git(repo: Path, *words: str) -> str:
    repo.mkdir(exist_ok=True)
    command = ["git", "-C", str(repo), "-c", "user.name=n", "-c", "user.email=e@x", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def code_of(result: RunResult, node_id: str) -> ErrorCode | None:
    return next(report.error_code for report in result.plan if report.node.id == node_id)


def tries_of(result: RunResult, node_id: str) -> int:
    return next(report.tries for report in result.plan if report.node.id == node_id)


async def test_the_time_server_answers_in_a_run(client: Client, tmp_path: Path) -> None:
    path = servers_file(tmp_path, time=beside_python("mcp-server-time"))
    noon = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata"}
    script = steps(now=("time_get_current_time", {"timezone": "Asia/Tokyo"}), noon=("time_convert_time", noon))

    async with staged(client, path, script) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert "'timezone': 'Asia/Tokyo'" in str(result.report)
    assert "'time_difference': '-3.5h'" in str(result.report)


async def test_what_the_time_server_refuses_is_told_to_the_planner(client: Client, tmp_path: Path) -> None:
    path = servers_file(tmp_path, time=beside_python("mcp-server-time"))
    wrong, right = (steps(now=("time_get_current_time", {"timezone": zone})) for zone in ("Tokio", "Asia/Tokyo"))

    async with staged(client, path, wrong, right) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert len(result.attempts) == 1
    assert "No time zone found with key Tokio" in str(it.model.requests[1])


async def test_the_git_server_reads_and_writes_in_a_run(client: Client, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    git(repo, "init", "-q", "-b", "main", ".")
    git(repo, "commit", "-q", "--allow-empty", "-m", "Grüße an alle")
    (repo / "new.txt").write_text("new")
    path = servers_file(tmp_path, git=beside_python("mcp-server-git", "--repository", str(repo)))
    where = {"repo_path": str(repo)}
    script = steps(
        log=("git_git_log", where),
        add=("git_git_add", where | {"files": '["new.txt"]'}),
        branch=("git_git_create_branch", where | {"branch_name": "side"}),
        status=("git_git_status", where),
    )

    async with staged(client, path, script) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert "Grüße an alle" in str(result.report)
    assert "new file:   new.txt" in str(result.report)
    assert "side" in git(repo, "branch", "--list")


async def test_a_write_of_a_server_is_withheld_from_a_run_that_may_not_write(client: Client, tmp_path: Path) -> None:
    async with staged(client, servers_file(tmp_path, it=scripted(tmp_path)), steps(w=("it_change_it", {}))) as it:
        result = await it.run(allow_writes=False, max_replans=0)

    assert result.status is RunStatus.FAILED_VALIDATION
    assert "it_change_it" in str(result.error)
    assert not (tmp_path / "change_it").exists()


async def killed_in_mid_call(
    client: Client, folder: Path, tool: str, kill_it: Callable[[str], object] = kill
) -> RunResult:
    path = servers_file(folder, it=scripted(folder))
    async with staged(client, path, steps(call=(f"it_{tool}", {}))) as it:
        running = asyncio.create_task(it.run(max_replans=0))
        kill_it(await noted(folder / tool))
        return await running


async def test_a_read_whose_server_is_killed_is_tried_again_on_a_new_session(client: Client, tmp_path: Path) -> None:
    result = await killed_in_mid_call(client, tmp_path, "wait_for_it")

    assert result.status is RunStatus.SUCCEEDED
    assert "wait_for_it at last" in str(result.report)
    assert tries_of(result, "call") == 2


async def test_a_write_whose_server_is_killed_is_not_repeated(client: Client, tmp_path: Path) -> None:
    result = await killed_in_mid_call(client, tmp_path, "change_it")

    assert result.status is RunStatus.FAILED_EXECUTION
    assert code_of(result, "call") is ErrorCode.UNCERTAIN_EFFECT
    assert tries_of(result, "call") == 1
    assert "has gone in mid-call" in str(result.error)


async def test_a_call_out_of_time_is_cancelled_at_the_server_and_tried_again(client: Client, tmp_path: Path) -> None:
    path = servers_file(tmp_path, it=scripted(tmp_path, timeout_s=1))
    async with staged(client, path, steps(call=("it_wait_for_it", {}))) as it:
        result = await it.run()
        assert (tmp_path / "wait_for_it.cancelled").exists()

    assert result.status is RunStatus.SUCCEEDED
    assert tries_of(result, "call") == 2


async def test_a_large_result_is_kept_aside_and_one_over_the_limit_ends_typed(client: Client, tmp_path: Path) -> None:
    path = servers_file(tmp_path, it=scripted(tmp_path))
    async with staged(client, path, steps(call=("it_huge", {"size": "100000"}))) as it:
        large = await it.run()
    async with staged(client, path, steps(call=("it_huge", {"size": "3000000"}))) as it:
        over = await it.run(max_replans=0, max_result_bytes=1_000_000)

    assert large.status is RunStatus.SUCCEEDED
    assert "x" * 100_000 in str(large.report)
    assert over.status is RunStatus.FAILED_EXECUTION
    assert code_of(over, "call") is ErrorCode.PAYLOAD_TOO_LARGE


@asynccontextmanager
async def http_server(folder: Path, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the scripted server behind streamable HTTP, on loopback."""
    words = [str(SCRIPTED), str(folder), str(port)]
    server = await asyncio.create_subprocess_exec(sys.executable, *words, stderr=subprocess.DEVNULL)
    try:
        await until(lambda: listens(port))
        yield server
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_a_server_behind_http_answers_in_a_run(client: Client, tmp_path: Path) -> None:
    port = free_port()
    path = servers_file(tmp_path, it={"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-A": "b"}})
    script = steps(say=("it_echo", {"text": "Grüße 🌍"}), key=("it_key_of", {}), steps=("it_steps", {}))
    async with http_server(tmp_path, port), staged(client, path, script) as it:
        result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert "Grüße 🌍" in str(result.report)
    assert f"{result.run_id}/key" in str(result.report)


async def test_a_read_whose_http_server_is_killed_goes_on_with_the_next_one(client: Client, tmp_path: Path) -> None:
    port = free_port()
    path = servers_file(tmp_path, it={"type": "http", "url": f"http://127.0.0.1:{port}/mcp"})
    async with http_server(tmp_path, port) as first, staged(client, path, steps(call=("it_wait_for_it", {}))) as it:
        running: asyncio.Task[Any] = asyncio.create_task(it.run())
        await noted(tmp_path / "wait_for_it")
        first.kill()
        await first.wait()
        async with http_server(tmp_path, port):
            result = await running

    assert result.status is RunStatus.SUCCEEDED
    assert "wait_for_it at last" in str(result.report)


async def test_a_write_that_never_reached_its_http_server_is_not_uncertain(client: Client, tmp_path: Path) -> None:
    port = free_port()
    path = servers_file(tmp_path, it={"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "timeout_s": 3})
    async with http_server(tmp_path, port) as server, staged(client, path, steps(call=("it_change_it", {}))) as it:
        server.kill()
        await server.wait()
        result = await it.run(max_replans=0, max_run_retries=0)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert code_of(result, "call") is ErrorCode.PROVIDER_UNAVAILABLE
    assert "nothing was done" in str(result.plan[0].error)
