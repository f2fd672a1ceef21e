"""Who runs the work: the raw workflow and Whippletree, each with its client, its worker and its way to start a run."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from temporalio.client import Client, WorkflowHandle
from temporalio.converter import DataConverter
from temporalio.worker import WorkerConfig

from activities.artifacts import ArtifactStore
from activities.served import Activities
from bench import work
from bench.expected import check_ours, check_raw
from bench.failure import BenchFailure, Unsupported
from bench.raw import RawWorkflow
from bench.shapes import graph
from bench.toolkit import CARDS, NAME, TOOLKIT, Planner, goal_of
from cli.connection import connect
from cli.dev_server import ServerAddress
from harness.budget import Limits
from harness.carry import RunInput
from harness.run import RunOptions
from workflows.data_converter import data_converter
from workflows.orchestrator import OrchestratorWorkflow
from workflows.payload_storage import store_of
from workflows.workers import build_worker

CONCURRENCY = 50
"""Calls in flight: as many as RunOptions allows."""
MAX_TOOLS_SHOWN = 100
"""More than there are: a routing call is no part of what is measured."""
CALLS_BEFORE = 2
"""Calls that a run of Whippletree makes beside its nodes: the catalog and the plan."""
_TEMPLATE_QUEUE = "bench-template"
_HOURS = timedelta(hours=2)

Handle = WorkflowHandle[Any, Any]


@dataclass(frozen=True)
class Job:
    """One run."""

    graph: str
    """Name of the graph; see bench.shapes."""
    queue: str
    run_id: str
    calls_before: int = 0
    """Single calls that the raw workflow makes first, where the number of calls is to be the same."""


@dataclass(frozen=True)
class Contender:
    """One way to run a graph on Temporal."""

    name: str
    connect: Callable[[str], Awaitable[Client]]
    """Connect to the server at an address."""
    worker: Callable[[Client, str], WorkerConfig]
    """Return what a worker of a task queue is made of."""
    start: Callable[[Client, Job], Awaitable[Handle]]
    """Start a run, or raise Unsupported."""
    check: Callable[[str, Any], None]
    """Raise BenchFailure when a result is not that of the graph with this name."""


async def connect_ours(target: str) -> Client:
    """Connect as the product does."""
    return await connect(ServerAddress(target=target))


async def connect_plain(target: str) -> Client:
    """Connect as the product does, but with the SDK's own converter: plain JSON."""
    return _with(await connect_ours(target), DataConverter.default)


def our_worker(client: Client, queue: str) -> WorkerConfig:
    """Return the product's worker, with the scripted planner for a model."""
    store = store_of(client.data_converter)
    if store is None:
        raise BenchFailure("the product's client has no artifact store")
    return _product(_with(client, data_converter(store)), queue, store)


def worker_of(client: Client, queue: str, workflow: type, calls: Sequence[Callable[..., Any]]) -> WorkerConfig:
    """Return the product's worker with another workflow and its activities in it: every knob is the same."""
    config = _product(client, queue, ArtifactStore.open("memory://"))
    config["workflows"], config["activities"], config["interceptors"] = [workflow], list(calls), []
    return config


def raw_worker(client: Client, queue: str) -> WorkerConfig:
    """Return the worker of the raw workflow."""
    return worker_of(client, queue, RawWorkflow, (*work.CALLS, work.report))


async def start_ours(client: Client, job: Job) -> Handle:
    """Start a run with everything on, and limits that no graph reaches."""
    request = RunInput(goal=goal_of(job.graph), toolkit=NAME, options=options_for(len(graph(job.graph))))
    return await client.start_workflow(OrchestratorWorkflow.run, request, id=job.run_id, task_queue=job.queue)


async def start_raw(client: Client, job: Job) -> Handle:
    """Start the raw workflow."""
    arguments = [job.graph, CONCURRENCY, job.calls_before]
    return await client.start_workflow(RawWorkflow.run, args=arguments, id=job.run_id, task_queue=job.queue)


async def start_bare_raw(client: Client, job: Job) -> Handle:
    """Start the raw workflow on its graph alone, whatever calls the others make before."""
    return await start_raw(client, replace(job, calls_before=0))


RAW = Contender("raw", connect_plain, raw_worker, start_raw, check_raw)
BARE_RAW = Contender("raw_bare", connect_plain, raw_worker, start_bare_raw, check_raw)
OURS = Contender("ours", connect_ours, our_worker, start_ours, check_ours)


def options_for(nodes: int) -> RunOptions:
    """Return options with limits that no graph of so many nodes reaches.

    Raises:
        Unsupported: when the product refuses so many nodes.
    """
    limits = Limits(
        max_tokens=10_000_000, max_tool_calls=4 * nodes + 100, max_wall_clock=_HOURS, max_cost_usd=Decimal(1000)
    )
    try:
        return RunOptions(
            limits=limits,
            max_concurrency=CONCURRENCY,
            max_plan_nodes=max(nodes, 100),
            max_replans=0,
            max_run_retries=0,
            allow_writes=True,
            max_tools_shown=MAX_TOOLS_SHOWN,
        )
    except ValidationError as error:
        raise Unsupported(f"RunOptions refuses {nodes} nodes: {error.errors()[0]['msg']}") from error


def _product(client: Client, queue: str, store: ArtifactStore) -> WorkerConfig:
    activities = Activities.of(TOOLKIT, Planner(), lambda _: CARDS, store)
    # This worker never runs, and so is on a queue of its own: its configuration is all that is wanted of it.
    config = build_worker(client, activities, task_queue=_TEMPLATE_QUEUE).config()
    config["task_queue"] = queue
    return config


def _with(client: Client, converter: DataConverter) -> Client:
    config = client.config()
    config["data_converter"] = converter
    return Client(**config)
