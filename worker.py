"""The worker: composition root of settings, model, toolkits and workflows. See `worker.py --help`."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from temporalio.client import Client

from activities.artifact_place import StoreError
from activities.artifacts import ArtifactStore
from activities.guardrails.audit import AuditLog
from activities.guardrails.audit_place import require_writable
from activities.guardrails.chain import Guardrails
from activities.guardrails.vault import Vault
from activities.loop_watchdog import watched_loop
from activities.mcp.toolkits import McpToolkits
from activities.model.client import OpenAIModel
from activities.rate_gate import RateGate
from activities.served import Activities
from activities.settings import SettingsError, WorkerSettings
from activities.toolkit import ToolkitError
from cli.connection import connect, open_artifacts
from cli.dev_server import embedded_server, is_embedded
from cli.exit_codes import ExitCode, Refusal
from cli.flags import MCP_VARIABLE
from cli.import_place import with_place
from cli.interrupts import Interrupts
from cli.plain_text import say
from cli.pollers import FRESH, has_polled
from cli.process import end, execute, guarded
from cli.toolkit_choice import toolkits_of_worker
from harness.toolkit_names import DEFAULT_TOOLKIT, server_parts
from workflows.data_converter import data_converter
from workflows.garbage import tune_process
from workflows.limited_workers import limited_workers
from workflows.payload_storage import store_of
from workflows.task_queue import task_queue
from workflows.telemetry import telemetry
from workflows.workers import EAGER_CALLS, EAGER_CALLS_EMBEDDED, GRACEFUL_STOP, build_driver, build_worker

SERVICE = "whippletree-worker"
"""Name of a worker in its spans."""


@asynccontextmanager
async def serve(
    client: Client,
    queues: Mapping[str, str],
    *,
    driving: Sequence[str] = (),
    graceful_stop: timedelta = GRACEFUL_STOP,
    mcp: Path | None = None,
) -> AsyncIterator[None]:
    """Run workers in this process until the body ends, one for each task queue.

    Args:
        client: connected to the server.
        queues: the toolkit to serve on each task queue.
        driving: task queues whose runs are only driven, their calls being made elsewhere.
        graceful_stop: how long activities may still go on when the body has ended.
        mcp: the servers file, for toolkits such as mcp:time; their servers are open as long as the workers run.

    Raises:
        ToolkitError: when a toolkit cannot be loaded, or a server of it does not start.
        SettingsError: when the settings cannot work, or the audit log cannot be written.
        StoreError: when the client's artifact store cannot be used.
    """
    settings = WorkerSettings.from_environment(os.environ)
    store = await _checked_store(client)
    client = _sparing_history(client, store)
    eager_calls = settings.eager_calls or (EAGER_CALLS_EMBEDDED if await is_embedded(client) else EAGER_CALLS)
    gate, rails = RateGate(), _guardrails(settings, store)
    model = OpenAIModel(settings, gate=gate)
    try:
        # Telemetry is entered first, so that the workers have stopped when the last spans are sent.
        with watched_loop(), telemetry(os.environ, SERVICE) as plugins:
            async with AsyncExitStack() as stack:
                servers = await stack.enter_async_context(_servers(mcp, queues.values()))
                kits = {queue: servers.load(name) for queue, name in queues.items()}
                for queue, kit in kits.items():
                    name, secrets = queues[queue], (*settings.secrets, *servers.secrets)
                    served = Activities.of(
                        kit,
                        model,
                        model.cards,
                        store,
                        name=name,
                        secrets=secrets,
                        gate=gate,
                        model_rate=settings.model_rate,
                        guardrails=rails,
                    )
                    worker = build_worker(
                        client,
                        served,
                        task_queue=queue,
                        graceful_stop=graceful_stop,
                        plugins=plugins,
                        eager_calls=eager_calls,
                    )
                    await stack.enter_async_context(worker)
                    limited = limited_workers(client, served, queue, graceful_stop=graceful_stop, plugins=plugins)
                    await stack.enter_async_context(limited)
                for queue in driving:
                    await stack.enter_async_context(build_driver(client, task_queue=queue, plugins=plugins))
                tune_process()
                yield
    finally:
        await model.close()


def _guardrails(settings: WorkerSettings, store: ArtifactStore) -> Guardrails:
    audit = settings.audit.absolute() if settings.audit else None
    if audit:
        require_writable(audit)
    return Guardrails(Vault(store, is_on=settings.masks_private), AuditLog(audit) if audit else None)


@asynccontextmanager
async def _servers(path: Path | None, toolkits: Collection[str]) -> AsyncIterator[McpToolkits]:
    """Open the MCP servers that toolkits need."""
    if path is None or not any(map(server_parts, toolkits)):
        yield McpToolkits()
        return
    from activities.mcp.servers import open_servers  # the SDK takes half a second to import

    async with open_servers(path, os.environ, wanted=toolkits) as servers:
        yield servers


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
@click.option(
    "--mcp",
    metavar="FILE",
    type=click.Path(path_type=Path),
    envvar=MCP_VARIABLE,
    help="Serve the tools of these MCP servers, as mcp:NAME for each.",
)
@click.option("--dev", is_flag=True, help="Bring up the embedded Temporal server with its Web UI, and serve it.")
@click.option("--check", is_flag=True, help="Exit 0 if a worker of this host serves, 2 if not.")
def command(toolkits: tuple[str, ...], *, mcp: Path | None, dev: bool, check: bool) -> ExitCode:
    """Serve runs: workflows, tools and models, until Ctrl-C or SIGTERM.

    The server is the one of TEMPORAL_ADDRESS or the profile, else localhost:7233.

    A run waits for a worker that serves the same set of toolkits. With the servers git and time in FILE, --mcp FILE
    serves mcp:git, mcp:time and mcp:git+mcp:time; --toolkit games adds games and games+mcp:git+mcp:time. Another set is
    served by its name: --toolkit games+mcp:time.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    if check:
        return execute(lambda _: _check(Served.named(toolkits, mcp).toolkits))
    serve_all = _serve_embedded if dev else _serve
    return execute(lambda interrupts: serve_all(Served.named(toolkits, mcp), interrupts))


@dataclass(frozen=True)
class Served:
    """What a worker serves."""

    toolkits: tuple[str, ...]
    mcp: Path | None
    """The servers file."""

    @classmethod
    def named(cls, toolkits: Sequence[str], mcp: Path | None) -> "Served":
        """Return what --toolkit and --mcp stand for."""
        return cls(toolkits_of_worker(toolkits, mcp, default=DEFAULT_TOOLKIT), mcp)


async def _serve(served: Served, interrupts: Interrupts) -> ExitCode:
    client = await connect()
    return await _until_stopped(client, served, interrupts, client.service_client.config.target_host)


async def _serve_embedded(served: Served, interrupts: Interrupts) -> ExitCode:
    open_artifacts()  # refuses a setting that no connection could be made with, before a server is waited for
    async with embedded_server() as address:
        where = f"{address.target}, Web UI {address.ui_url}"
        return await _until_stopped(await connect(address), served, interrupts, where)


async def _until_stopped(client: Client, served: Served, interrupts: Interrupts, where: str) -> ExitCode:
    stop = asyncio.Event()

    def interrupt() -> None:
        if stop.is_set():
            say("Left at once: what was in flight is tried again by another worker.")
            end(ExitCode.FAILED)
        stop.set()

    try:
        with interrupts.handled_by(interrupt):
            async with serve(client, {task_queue(name): name for name in served.toolkits}, mcp=served.mcp):
                say(f"Serving {', '.join(served.toolkits)} on {where}. Ctrl-C stops.")
                await stop.wait()
                say(f"Stopping: work in flight has {GRACEFUL_STOP.total_seconds():g} s to end. Ctrl-C leaves at once.")
    except (ToolkitError, SettingsError, StoreError) as error:
        raise Refusal(f"The worker cannot start: {with_place(error)}") from error
    return ExitCode.SUCCEEDED


async def _check(toolkits: Sequence[str]) -> ExitCode:
    client = await connect()
    for toolkit in toolkits:
        if not await has_polled(client, task_queue(toolkit), datetime.now(UTC) - FRESH, host=socket.gethostname()):
            raise Refusal(f"No worker of this host serves {toolkit!r}: start one with `python worker.py`.")
    return ExitCode.SUCCEEDED


if __name__ == "__main__":
    end(guarded(lambda: command.main(prog_name="worker.py", standalone_mode=False)))
