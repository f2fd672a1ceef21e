"""One embedded server for everybody in a directory, and what killed processes leave behind."""

import asyncio
import json
import os
import signal
import socket
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.worker import Worker

from cli.connection import connect
from cli.dev_server import embedded_server
from cli.exit_codes import Refusal
from tests.cli.conftest import CommandLine
from tests.cli.shell import Shell, free_port, has_server, started_run, wait_for_line, wait_until
from tests.cli.stub_workflow import StubWorkflow


def test_two_starters_at_once_share_one_server_and_the_last_one_stops_it(shell: Shell) -> None:
    with shell.running("--goal", "sleep 0.5") as short, shell.running("--goal", "sleep 2") as long:
        targets = {wait_for_line(process, " started on ").split()[4] for process in (short, long)}
        pid = shell.server_pid()
        assert short.wait(20) == 0
        assert shell.server_pid() == pid
        assert long.wait(20) == 0

    assert len(targets) == 1
    assert not shell.has_server()


def test_server_of_a_killed_starter_is_adopted_and_its_run_goes_on(shell: Shell) -> None:
    with shell.running("--goal", "sleep 1") as starter:
        run_id = started_run(starter)
        pid = shell.server_pid()
        starter.kill()
        starter.wait()
        assert shell.has_server()

    with shell.running("watch", run_id, "--json") as watching:
        wait_for_line(watching, "run.start")
        assert shell.server_pid() == pid
        assert watching.stdout is not None
        assert json.loads(watching.stdout.read())["status"] == "SUCCEEDED"
        assert watching.wait(20) == 0
    assert not shell.has_server()


def test_last_user_stops_the_server_that_another_has_started_again_on_its_ports(shell: Shell) -> None:
    """Those who still use it look for it there, whatever ports are usual by now."""
    with shell.running("--goal", "sleep 3") as first:
        started_run(first)
        ports = _ports(shell)
        shell.kill_server()
        assert shell.run("stats", STUB_PORT=str(free_port())).returncode == 0
        assert shell.has_server()
        assert _ports(shell) == ports
        assert first.wait(30) == 0

    assert not shell.has_server()
    assert shell.run("stats").returncode == 0


@pytest.mark.parametrize(
    "record", [json.dumps({"pid": os.getpid(), "port": 1, "ui_port": 1}), "{"], ids=["dead server", "unreadable"]
)
def test_stale_record_is_forgotten(shell: Shell, command_line: CommandLine, record: str) -> None:
    shell.home.mkdir()
    (shell.home / "server.json").write_text(record)

    assert command_line("--goal", "anything").code == 0
    assert not (shell.home / "server.json").exists()


def test_taken_port_is_left_alone(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", shell.port)):
        done = shell.run("--goal", "anything")

    assert done.returncode == 0, done.stderr
    assert f":{shell.port}." not in done.stderr


def test_another_directory_gets_a_server_of_its_own(shell: Shell, tmp_path: Path) -> None:
    elsewhere = Shell(tmp_path / "elsewhere", port=shell.port)  # a server of another directory holds that port
    elsewhere.directory.mkdir()
    with shell.running("--goal", "sleep 2") as first:
        started_run(first)
        done = elsewhere.run("--goal", "anything")
        assert done.returncode == 0, done.stderr
        assert f":{shell.port}." not in done.stderr
        assert first.wait(20) == 0


async def test_users_of_one_process_share_too_and_histories_are_kept_for_30_days(tmp_path: Path) -> None:
    async with embedded_server(tmp_path) as one:
        async with embedded_server(tmp_path) as other:
            assert (other.target, one.is_shared, other.is_shared) == (one.target, False, True)
        client = await connect(one)
        reply = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))

    assert reply.config.workflow_execution_retention_ttl.ToTimedelta() == timedelta(days=30)
    assert not has_server(tmp_path)


async def test_server_is_out_of_reach_of_the_terminals_interrupt(tmp_path: Path) -> None:
    async with embedded_server(tmp_path):
        pid = json.loads((tmp_path / "server.json").read_text())["pid"]
        assert os.getsid(pid) == pid  # a session of its own is out of the terminal's reach


def fake_temporal(tmp_path: Path, body: str) -> str:
    script = tmp_path / "temporal"
    script.write_text(f"#!{sys.executable}\n{body}\n")
    script.chmod(0o755)
    return str(script)


async def test_server_that_does_not_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = fake_temporal(tmp_path, "import time; print('still thinking', flush=True); time.sleep(60)")
    monkeypatch.setenv("WHIPPLETREE_TEMPORAL_CLI", slow)

    with pytest.raises(Refusal, match=r"did not answer within 0\.5 s. Its log says: still thinking"):
        async with embedded_server(tmp_path, start_limit=timedelta(seconds=0.5)):
            pass
    assert not has_server(tmp_path)


def test_server_that_ends_while_starting_is_quoted(shell: Shell) -> None:
    broken = fake_temporal(shell.directory, "print('one'); print('no such table'); raise SystemExit(1)")
    done = shell.run("--goal", "anything", WHIPPLETREE_TEMPORAL_CLI=broken)

    assert done.returncode == 2
    assert done.stderr == "The Temporal server ended while starting. Its log says: one | no such table\n"


def test_port_that_was_taken_meanwhile_is_replaced_though_the_server_crashed_over_it(shell: Shell) -> None:
    body = "open('starts', 'a').write('x'); print('address already in use\\n' + 'panic\\n' * 9); raise SystemExit(2)"
    broken = fake_temporal(shell.directory, body)

    done = shell.run("--goal", "anything", WHIPPLETREE_TEMPORAL_CLI=broken)

    assert done.returncode == 2
    assert (shell.home / "starts").read_text() == "xxx"


def test_server_that_hangs_is_replaced_when_nobody_uses_it(shell: Shell) -> None:
    with shell.running("--goal", "sleep 60") as starter:
        started_run(starter)
        pid = shell.server_pid()
        starter.kill()
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: _state(pid) == "T")  # a thread that has not stopped yet could still answer

    record = asyncio.run(_record_of_a_new_user(shell))

    assert _state(pid) in {"gone", "Z"}, f"{pid} is in state {_state(pid)}, and the record is {record}"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return "gone"


async def _record_of_a_new_user(shell: Shell) -> str:
    async with embedded_server(shell.home, start_limit=timedelta(seconds=2)):
        return (shell.home / "server.json").read_text()


async def test_worker_is_required_on_a_configured_server(shell: Shell, tmp_path: Path) -> None:
    async with embedded_server(tmp_path / "other") as address:
        done = await asyncio.to_thread(
            shell.run, "--goal", "anything", "--worker-wait", "0.3", TEMPORAL_ADDRESS=address.target
        )
        client = await connect(address)
        runs = [run.id async for run in client.list_workflows()]

    assert done.returncode == 2
    assert "waiting up to 0.3 s" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.endswith("and nothing was started: start one with `python worker.py --toolkit games`.")
    assert runs == []


async def test_run_that_only_a_dead_worker_polled_for_is_taken_back(shell: Shell, tmp_path: Path) -> None:
    async with embedded_server(tmp_path / "other") as address:
        client = await connect(address)
        async with Worker(client, task_queue="whippletree.games", workflows=[StubWorkflow]):
            await asyncio.sleep(0.3)
        done = await asyncio.to_thread(
            shell.run, "--goal", "anything", "--worker-wait", "0.5", TEMPORAL_ADDRESS=address.target
        )
        described = [run.status async for run in client.list_workflows()]

    assert done.returncode == 2, done.stderr
    assert "No worker with the toolkit 'games'" in done.stderr.splitlines()[-1]
    assert [status and status.name for status in described] == ["TERMINATED"]


async def test_with_worker_brings_one_to_a_configured_server(shell: Shell, tmp_path: Path) -> None:
    async with embedded_server(tmp_path / "other") as address:
        done = await asyncio.to_thread(
            shell.run, "--goal", "anything", "--with-worker", TEMPORAL_ADDRESS=address.target
        )

    assert done.returncode == 0, done.stderr


def _ports(shell: Shell) -> tuple[int, int]:
    record = json.loads((shell.home / "server.json").read_text())
    return record["port"], record["ui_port"]
