"""The worker: composition root of settings, model, toolkits and workflows. See `worker.py --help`."""

import asyncio
import gc
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import click
from temporalio.client import Client
from temporalio.worker import Plugin, UnsandboxedWorkflowRunner, Worker, WorkflowRunner

from activities.artifact_place import StoreError
from activities.artifacts import ArtifactStore
from activities.loop_watchdog import watched_loop
from activities.model.client import OpenAIModel
from activities.served import Activities
from activities.settings import SettingsError, WorkerSettings
from activities.toolkit import ToolkitError, load_toolkit
from activities.try_ledger import HEARTBEAT_INTERVAL
from cli.connection import connect, open_artifacts
from cli.dev_server import embedded_server
from cli.exit_codes import ExitCode, Refusal
from cli.interrupts import Interrupts
from cli.plain_text import say
from cli.pollers import FRESH, has_polled
from cli.process import end, execute, guarded
from workflows.data_converter import data_converter
from workflows.internal_errors import InternalErrors
from workflows.orchestrator import OrchestratorWorkflow
from workflows.payload_storage import store_of
from workflows.task_queue import task_queue
from workflows.telemetry import telemetry

GRACEFUL_STOP = timedelta(seconds=65)
"""How long a stopping worker lets activities end: a model call takes 60 s unless the run says otherwise."""
STICKY_TIMEOUT = timedelta(seconds=1)
"""How long a workflow task waits for a lost worker's cache before another worker takes it; 10 s by default."""
DEFAULT_TOOLKIT = "games"
SERVICE = "whippletree-worker"
"""Name of a worker in its spans."""
RUNNER = UnsandboxedWorkflowRunner()
"""Workflow code runs as it is: the SDK's sandbox costs a third of a worker's CPU. Tests run it inside the sandbox."""


def build_worker(
    client: Client,
    activities: Activities,
    *,
    task_queue: str,
    max_cached_workflows: int = 1000,
    graceful_stop: timedelta = GRACEFUL_STOP,
    plugins: Sequence[Plugin] = (),
    workflow_runner: WorkflowRunner = RUNNER,
) -> Worker:
    """Put a worker together; nothing runs yet. A cache of 0 replays each workflow at every task, for tests."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[OrchestratorWorkflow],
        activities=activities.functions,
        interceptors=[InternalErrors()],
        workflow_runner=workflow_runner,
        graceful_shutdown_timeout=graceful_stop,
        max_heartbeat_throttle_interval=HEARTBEAT_INTERVAL,
        max_cached_workflows=max_cached_workflows,
        plugins=plugins,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
    )


def build_driver(client: Client, *, task_queue: str, plugins: Sequence[Plugin] = ()) -> Worker:
    """Put a worker together that only drives runs, and answers for those that have ended; it makes no call."""
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[OrchestratorWorkflow],
        interceptors=[InternalErrors()],
        workflow_runner=RUNNER,
        plugins=plugins,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
    )


@asynccontextmanager
async def serve(
    client: Client,
    queues: Mapping[str, str],
    *,
    driving: Sequence[str] = (),
    graceful_stop: timedelta = GRACEFUL_STOP,
) -> AsyncIterator[None]:
    """Run workers in this process until the body ends, one for each task queue.

    Args:
        client: connected to the server.
        queues: the toolkit to serve on each task queue.
        driving: task queues whose runs are only driven, their calls being made elsewhere.
        graceful_stop: how long activities may still go on when the body has ended.

    Raises:
        ToolkitError: when a toolkit cannot be loaded.
        SettingsError: when the model settings cannot work.
        StoreError: when the client's artifact store cannot be used.
    """
    kits = {queue: load_toolkit(name) for queue, name in queues.items()}
    settings = WorkerSettings.from_environment(os.environ)
    store = await _checked_store(client)
    client = _sparing_history(client, store)
    model = OpenAIModel(settings)
    try:
        # Telemetry is entered first, so that the workers have stopped when the last spans are sent.
        with watched_loop(), telemetry(os.environ, SERVICE) as plugins:
            async with AsyncExitStack() as stack:
                for queue, kit in kits.items():
                    name, secrets = queues[queue], settings.secrets
                    served = Activities.of(kit, model, model.cards, store, name=name, secrets=secrets)
                    worker = build_worker(
                        client, served, task_queue=queue, graceful_stop=graceful_stop, plugins=plugins
                    )
                    await stack.enter_async_context(worker)
                for queue in driving:
                    await stack.enter_async_context(build_driver(client, task_queue=queue, plugins=plugins))
                tune_process()
                yield
    finally:
        await model.close()


def tune_process() -> None:
    """Look for garbage less often, and not among what was imported.

    A large plan is millions of objects that live on; looking through them took a tenth of a worker's processor time.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


async def _checked_store(client: Client) -> ArtifactStore:
    store = store_of(client.data_converter)
    if store is None:
        raise StoreError("the client has no artifact store: connect with workflows.data_converter.data_converter")
    await store.check()
    return store


def _sparing_history(client: Client, store: ArtifactStore) -> Client:
    """Return a client that puts more into the store than a starter's may, which must be understood without one."""
    config = client.config()
    config["data_converter"] = data_converter(store)
    return Client(**config)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--toolkit", "toolkits", metavar="NAME", multiple=True, help="Tools to serve.  [default: games]")
@click.option("--dev", is_flag=True, help="Bring up the embedded Temporal server with its Web UI, and serve it.")
@click.option("--check", is_flag=True, help="Exit 0 if a worker of this host serves, 2 if not.")
def command(toolkits: tuple[str, ...], *, dev: bool, check: bool) -> ExitCode:
    """Serve runs: workflows, tools and models, until Ctrl-C or SIGTERM.

    The server is the one of TEMPORAL_ADDRESS or the profile, else localhost:7233.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    names = toolkits or (DEFAULT_TOOLKIT,)
    if check:
        return execute(lambda _: _check(names))
    return execute(lambda interrupts: _serve_embedded(names, interrupts) if dev else _serve(names, interrupts))


async def _serve(toolkits: Sequence[str], interrupts: Interrupts) -> ExitCode:
    client = await connect()
    return await _until_stopped(client, toolkits, interrupts, client.service_client.config.target_host)


async def _serve_embedded(toolkits: Sequence[str], interrupts: Interrupts) -> ExitCode:
    open_artifacts()  # refuses a setting that no connection could be made with, before a server is waited for
    async with embedded_server() as address:
        where = f"{address.target}, Web UI {address.ui_url}"
        return await _until_stopped(await connect(address), toolkits, interrupts, where)


async def _until_stopped(client: Client, toolkits: Sequence[str], interrupts: Interrupts, where: str) -> ExitCode:
    stop = asyncio.Event()

    def interrupt() -> None:
        if stop.is_set():
            say("Left at once: what was in flight is tried again by another worker.")
            end(ExitCode.FAILED)
        stop.set()

    try:
        with interrupts.handled_by(interrupt):
            async with serve(client, {task_queue(toolkit): toolkit for toolkit in toolkits}):
                say(f"Serving {', '.join(toolkits)} on {where}. Ctrl-C stops.")
                await stop.wait()
                say(f"Stopping: work in flight has {GRACEFUL_STOP.total_seconds():g} s to end. Ctrl-C leaves at once.")
    except (ToolkitError, SettingsError, StoreError) as error:
        raise Refusal(f"The worker cannot start: {error}") from error
    return ExitCode.SUCCEEDED


async def _check(toolkits: Sequence[str]) -> ExitCode:
    client = await connect()
    for toolkit in toolkits:
        if not await has_polled(client, task_queue(toolkit), datetime.now(UTC) - FRESH, host=socket.gethostname()):
            raise Refusal(f"No worker of this host serves {toolkit!r}: start one with `python worker.py`.")
    return ExitCode.SUCCEEDED


if __name__ == "__main__":
    end(guarded(lambda: command.main(prog_name="worker.py", standalone_mode=False)))
