"""The worker as a process: what it refuses, how it stops, and that it works without Unix signal handlers (A20)."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

import worker as worker_process
from harness.carry import RunInput
from harness.run import RunStatus
from workflows.orchestrator import OrchestratorWorkflow
from workflows.payload_storage import store_of
from workflows.task_queue import task_queue
from workflows.workers import EAGER_CALLS, EAGER_CALLS_EMBEDDED, build_worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parent.parent
SLOW = "tests.slow_toolkit:TOOLKIT"
WITHOUT_SIGNAL_HANDLERS = """
import asyncio.unix_events, runpy, sys
def refuse(*_):
    raise NotImplementedError
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = refuse
asyncio.unix_events._UnixSelectorEventLoop.remove_signal_handler = refuse
sys.argv = ["worker.py", *sys.argv[1:]]
runpy.run_path("worker.py", run_name="__main__")
"""


@asynccontextmanager
async def worker(
    client: Client, *arguments: str, script: tuple[str, ...] = ("worker.py",), **settings: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a worker process against the shared server; kill it if the test has not ended it."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "OPENAI_", "OTEL_"))
    }
    store = store_of(client.data_converter)
    assert store
    shared = {"TEMPORAL_ADDRESS": client.service_client.config.target_host, "WHIPPLETREE_ARTIFACTS": store.name}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *script,
        *arguments,
        cwd=ROOT,
        env=plain | shared | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def line_with(process: asyncio.subprocess.Process, text: str) -> str:
    """Read stderr up to the line that holds a text."""
    assert process.stderr is not None
    async with asyncio.timeout(30):
        while line := (await process.stderr.readline()).decode():
            if text in line:
                return line
    pytest.fail(f"the worker ended without saying {text!r}")


async def rest(process: asyncio.subprocess.Process) -> str:
    """Wait for the end of the process; return what it still said."""
    _, stderr = await asyncio.wait_for(process.communicate(), 30)
    return stderr.decode()


async def run_games(client: Client, run_id: str) -> RunStatus:
    handle = await client.start_workflow(
        OrchestratorWorkflow.run, RunInput(goal="a calm game"), id=run_id, task_queue=task_queue("games")
    )
    return (await asyncio.wait_for(handle.result(), 30)).status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
async def test_a_worker_serves_until_it_is_asked_to_stop(client: Client, number: signal.Signals) -> None:
    async with worker(client) as process:
        await line_with(process, "Serving games")
        status = await run_games(client, f"run-served-{number}")
        process.send_signal(number)
        said = await rest(process)

    assert status is RunStatus.SUCCEEDED
    assert process.returncode == 0
    assert "Stopping" in said
    assert "Traceback" not in said


async def test_a_worker_works_where_signal_handlers_cannot_be_added(client: Client) -> None:
    async with worker(client, script=("-c", WITHOUT_SIGNAL_HANDLERS)) as process:
        await line_with(process, "Serving games")
        status = await run_games(client, "run-no-handlers")
        process.send_signal(signal.SIGINT)
        said = await rest(process)

    assert status is RunStatus.SUCCEEDED
    assert process.returncode == 0
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "settings", "named"),
    [
        (["--toolkit", "nope"], {}, "nope"),
        (["--toolkit", "no.such.module:kit"], {}, "no.such.module"),
        (["--unknown"], {}, "--unknown"),
        ([], {"OPENAI_BASE_URL": "not a url"}, "OPENAI_BASE_URL"),
        ([], {"WHIPPLETREE_PRICES": "no/such/file.json"}, "no/such/file.json"),
        ([], {"WHIPPLETREE_ARTIFACTS": "ftp://host"}, "WHIPPLETREE_ARTIFACTS names no store that can be used"),
        ([], {"WHIPPLETREE_ARTIFACTS": "/dev/null/x"}, "the artifact store /dev/null/x cannot be used"),
        ([], {"WHIPPLETREE_AUDIT": "/dev/null/x"}, "/dev/null/x (Not a directory): let WHIPPLETREE_AUDIT name"),
        ([], {"TEMPORAL_ADDRESS": "127.0.0.1:1"}, "127.0.0.1:1"),
        (["--check"], {"TEMPORAL_NAMESPACE": "nowhere"}, "nowhere"),
    ],
    ids=[
        "toolkit",
        "module",
        "flag",
        "model settings",
        "prices",
        "no store",
        "unusable store",
        "audit",
        "server",
        "namespace",
    ],
)
async def test_a_worker_that_cannot_start_says_why_in_one_line(
    client: Client, arguments: list[str], settings: dict[str, str], named: str
) -> None:
    async with worker(client, *arguments, **settings) as process:
        said = await rest(process)

    assert process.returncode == 2
    assert named in said
    assert len(said.strip().splitlines()) == 1


async def test_the_health_check_tells_whether_a_worker_of_this_host_polls(client: Client) -> None:
    async with worker(client) as process:
        await line_with(process, "Serving games")
        await run_games(client, "run-healthy")
        async with worker(client, "--check") as check:
            await rest(check)
        process.terminate()
        await rest(process)

    assert check.returncode == 0


async def test_a_stopping_worker_lets_work_in_flight_end(client: Client, tmp_path: Path) -> None:
    """The toolkit of this test's own module; its node takes a second, and is neither lost nor repeated."""
    ledger = tmp_path / "ledger"
    async with worker(client, "--toolkit", SLOW, SLOW_LEDGER=str(ledger)) as process:
        await line_with(process, "Serving")
        handle = await client.start_workflow(
            OrchestratorWorkflow.run,
            RunInput(goal="slowly", toolkit=SLOW),
            id="run-graceful",
            task_queue=task_queue(SLOW),
        )
        async with asyncio.timeout(20):
            while not ledger.exists():  # noqa: ASYNC110 - the file of another process has no event
                await asyncio.sleep(0.05)
        process.terminate()
        await rest(process)
        tries = ledger.read_text().splitlines()
    async with worker(client, "--toolkit", SLOW, SLOW_LEDGER=str(ledger)) as process:
        result = await asyncio.wait_for(handle.result(), 30)

    assert process is not None
    assert tries == ["start", "end"]
    assert result.status is RunStatus.SUCCEEDED


@pytest.mark.parametrize(
    ("setting", "is_embedded", "calls"),
    [("", False, EAGER_CALLS), ("", True, EAGER_CALLS_EMBEDDED), ("7", True, 7), ("7", False, 7)],
)
async def test_calls_go_past_the_task_queue_as_it_is_set_or_suits_the_server(
    client: Client, monkeypatch: pytest.MonkeyPatch, *, setting: str, is_embedded: bool, calls: int
) -> None:
    built: list[Worker] = []

    def build(*args: Any, **kwargs: Any) -> Worker:
        built.append(build_worker(*args, **kwargs))
        return built[-1]

    async def answer(_: Client) -> bool:
        return is_embedded

    monkeypatch.setenv("WHIPPLETREE_EAGER_CALLS", setting)
    monkeypatch.setattr(worker_process, "build_worker", build)
    monkeypatch.setattr(worker_process, "is_embedded", answer)
    async with worker_process.serve(client, {"eager": "games"}):
        pass

    assert [one.config()["max_eager_activity_reservations_per_workflow_task"] for one in built] == [calls]
