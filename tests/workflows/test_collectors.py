"""Telemetry on and off: what turns it on, what it leaves out when off, and collectors that are dead."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.worker import Replayer

from harness.run import RunStatus
from tests.builders import node, plan
from tests.sandbox import SANDBOX
from tests.stage import fan_in
from tests.workflows.span_rig import KEY, NINE, rig
from tests.workflows.span_tree import collecting, own_provider
from workflows.data_converter import DATA_CONVERTER
from workflows.orchestrator import OrchestratorWorkflow
from workflows.telemetry import ENDPOINT, TRACES_ENDPOINT, collector, telemetry


@pytest.mark.asyncio(loop_scope="session")
async def test_nothing_is_added_to_a_run_without_a_collector(client: Client) -> None:
    with own_provider(), telemetry({}, "tests") as plugins:
        async with rig(client, "off", fan_in("a"), plugins=plugins) as it:
            handle = await it.start()
            await asyncio.wait_for(handle.result(), 60)
        history = await handle.fetch_history()

    assert plugins == []
    assert "_tracer-data" not in history.to_json()


@pytest.mark.parametrize("is_recorded_with_telemetry", [True, False], ids=["on-then-off", "off-then-on"])
@pytest.mark.asyncio(loop_scope="session")
async def test_histories_replay_with_and_without_telemetry(client: Client, is_recorded_with_telemetry: bool) -> None:  # noqa: FBT001
    broken = plan(node("x", "a"))
    with collecting() as collected:
        on, off = collected.plugins, list[SimplePlugin]()
        recorded, replayed = (on, off) if is_recorded_with_telemetry else (off, on)
        async with rig(client, f"replay-{is_recorded_with_telemetry}", broken, fan_in("a"), plugins=recorded) as it:
            handle = await it.start()
            await asyncio.wait_for(handle.result(), 60)
        replayer = Replayer(
            workflows=[OrchestratorWorkflow],
            data_converter=DATA_CONVERTER,
            workflow_runner=SANDBOX,
            plugins=replayed,
        )
        first = client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
        for history in (await first.fetch_history(), await client.get_workflow_handle(handle.id).fetch_history()):
            await replayer.replay_workflow(history)

    assert len(set(collected.ids)) == len(collected.ids)
    assert len(collected.named("run")) == 1


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({ENDPOINT: " "}, None),
        ({ENDPOINT: "http://c:4318/"}, "http://c:4318/v1/traces"),
        ({ENDPOINT: "http://c:4318", TRACES_ENDPOINT: "http://t/x"}, "http://t/x"),
        ({ENDPOINT: "http://c:4318", "OTEL_SDK_DISABLED": "TRUE"}, None),
    ],
    ids=["unset", "empty", "base", "exact", "disabled"],
)
def test_the_collector_is_named_by_the_standard_variables(environment: dict[str, str], expected: str | None) -> None:
    assert collector(environment) == expected


def test_the_sdk_is_not_loaded_without_a_collector() -> None:
    script = (
        "import sys, worker\n"
        "from workflows.telemetry import telemetry\n"
        "with telemetry({}, 'tests'): pass\n"
        "sys.exit('opentelemetry.sdk.trace' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


# Collectors


@contextmanager
def receiving() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """Serve as a collector; yield its URL and what was posted to /v1/traces."""
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


@pytest.mark.asyncio(loop_scope="session")
async def test_spans_reach_the_collector_that_the_environment_names(client: Client) -> None:
    with receiving() as (url, received), own_provider(), telemetry({ENDPOINT: url}, "tests") as plugins:
        async with rig(client, "received", fan_in("a"), plugins=plugins) as it:
            await it.run()

    resources = [of_resource for request in received for of_resource in request.resource_spans]
    names = sorted(span.name for r in resources for scope in r.scope_spans for span in scope.spans)
    services = {a.value.string_value for r in resources for a in r.resource.attributes if a.key == "service.name"}
    assert names == ["attempt 0", "chat scripted-1", "chat scripted-1", "node n_a", "node report", "run"]
    assert services == {"tests"}


@contextmanager
def refusing() -> Iterator[str]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    yield f"http://user:{KEY}@127.0.0.1:{port}"


@contextmanager
def silent() -> Iterator[str]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://user:{KEY}@127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("dead", [refusing, silent])
@pytest.mark.asyncio(loop_scope="session")
async def test_a_dead_collector_neither_delays_nor_fails_a_run(client: Client, dead: Any) -> None:
    with own_provider(), dead() as url, telemetry({ENDPOINT: url}, "tests") as plugins:
        async with rig(client, f"dead-{dead.__name__}", fan_in(*NINE), plugins=plugins) as it:
            result = await it.run()

    assert result.status is RunStatus.SUCCEEDED
    assert result.budget.elapsed < timedelta(seconds=5)


@pytest.mark.parametrize("dead", [refusing, silent])
def test_a_dead_collector_does_not_keep_a_process(dead: Any) -> None:
    script = (
        "import os, sys\n"
        "from opentelemetry import trace\n"
        "from workflows.telemetry import telemetry\n"
        "with telemetry(os.environ, 'tests'):\n"
        "    for n in range(3000): trace.get_tracer('t').start_span('s').end()\n"
        "    print('work is done', flush=True)\n"
    )
    with dead() as url:
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            env={ENDPOINT: url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "work is done\n"
        started = time.monotonic()
        _, told = process.communicate(timeout=60)
        took = time.monotonic() - started

    assert process.returncode == 0
    assert took < 5
    assert told.startswith("no spans reach the collector at 127.0.0.1:")
    assert len(told.splitlines()) == 1
    assert KEY not in told
