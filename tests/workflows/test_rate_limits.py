"""Calls with a rate limit wait in a task queue of their own, which all workers together serve at that rate."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowHandle

from activities.model.request import Model
from activities.served import Activities
from activities.toolkit import Toolkit
from harness.budget import Limits
from harness.carry import RunInput
from harness.catalog import RateLimit
from harness.errors import ErrorCode, ToolError
from harness.run import RunOptions, RunResult, RunStatus
from tests.sandbox import SANDBOX
from tests.stage import CARDS, MEMORY, Outcome, ScriptedModel, ScriptedTools, fan_in
from tests.temporal_server import dev_server
from tests.workflows.rated_worker import CALLS, most_in_a_second, starts
from workflows.limited_workers import limited_workers
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

IN_ONE_PART = ("matching.numTaskqueueReadPartitions=1", "matching.numTaskqueueWritePartitions=1")
SLOW = RateLimit(name="slow", per_second=0.1)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client() -> AsyncIterator[Client]:
    """Return a client of a server whose task queues are in one part, as those of the embedded server."""
    async with dev_server(*IN_ONE_PART) as environment:
        yield environment.client


@contextmanager
def worker_processes(client: Client, task_queue: str, ledger: Path, per_second: float) -> Iterator[None]:
    address = client.service_client.config.target_host
    command = [sys.executable, "-m", "tests.workflows.rated_worker", address, task_queue, str(ledger), f"{per_second}"]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@asynccontextmanager
async def worker_of(
    client: Client, kit: Toolkit, model: Model, task_queue: str, *, model_rate: float | None = None
) -> AsyncIterator[None]:
    activities = Activities.of(kit, model, lambda _: CARDS, MEMORY, model_rate=model_rate)
    limited = limited_workers(client, activities, task_queue, graceful_stop=timedelta(seconds=2))
    async with build_worker(client, activities, task_queue=task_queue, workflow_runner=SANDBOX), limited:
        yield


async def start(
    client: Client, toolkit: str, task_queue: str, options: RunOptions | None = None, *, activity_queue: str = ""
) -> WorkflowHandle[OrchestratorWorkflow, RunResult]:
    given = RunInput(goal="g", toolkit=toolkit, options=options or RunOptions(), activity_queue=activity_queue)
    return await client.start_workflow(OrchestratorWorkflow.run, given, id=f"run-{task_queue}", task_queue=task_queue)


async def queues_of(handle: WorkflowHandle[OrchestratorWorkflow, RunResult]) -> dict[str, str]:
    """Return the task queue of each activity type."""
    scheduled = [
        event.activity_task_scheduled_event_attributes
        async for event in handle.fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]
    return {each.activity_type.name: each.task_queue.name for each in scheduled}


async def polls(client: Client, queue: str) -> int:
    """Return how many workers have polled a task queue for activities."""
    asked = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    )
    return len((await client.workflow_service.describe_task_queue(asked)).pollers)


async def until_polled(client: Client, queue: str, count: int) -> None:
    async with asyncio.timeout(60):
        while await polls(client, queue) < count:  # noqa: ASYNC110 - the server sends no event
            await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_three_worker_processes_keep_a_limit_together(client: Client, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with worker_processes(client, "rated", ledger, per_second=5):
        await until_polled(client, "rated~provider", 3)
        options = RunOptions(max_concurrency=50, limits=Limits(max_tool_calls=CALLS + 1))
        handle = await start(client, "rated", "rated", options)
        result = await asyncio.wait_for(handle.result(), 60)

    moments = [moment for moment, _ in starts(ledger)]
    shares = Counter(pid for _, pid in starts(ledger))
    assert result.status is RunStatus.SUCCEEDED
    assert len(moments) == CALLS
    assert most_in_a_second(moments) <= 6
    assert moments[-1] - moments[0] < 1.5 * CALLS / 5
    assert len(shares) == 3


async def test_a_limit_of_less_than_one_a_second_holds(client: Client) -> None:
    tools = ScriptedTools()
    kit = tools.toolkit(rate_limit=RateLimit(name="rare", per_second=0.5))
    async with worker_of(client, kit, ScriptedModel([fan_in("a", "b", "c")]), "rare"):
        await asyncio.wait_for((await start(client, "stage", "rare")).result(), 30)

    moments = sorted(call.started for call in tools.calls if call.tool in {"a", "b", "c"})
    assert [after - before >= 1.9 for before, after in pairwise(moments)] == [True, True]


async def test_calls_of_a_limited_tool_wait_in_the_task_queue_of_the_limit(client: Client) -> None:
    kit = ScriptedTools().toolkit(reads=("a",), rate_limit=RateLimit(name="provider", per_second=50))
    async with worker_of(client, kit, ScriptedModel([fan_in("a")]), "limited"):
        handle = await start(client, "stage", "limited")
        result = await asyncio.wait_for(handle.result(), 20)

    queues = await queues_of(handle)
    assert result.status is RunStatus.SUCCEEDED
    assert queues.pop("a") == "limited~provider"
    assert set(queues.values()) == {"limited"}


async def test_limited_calls_of_a_private_run_wait_in_a_queue_beside_its_own(client: Client) -> None:
    kit = ScriptedTools().toolkit(reads=("a",), rate_limit=RateLimit(name="provider", per_second=50))
    model = ScriptedModel([fan_in("a")])
    async with worker_of(client, kit, model, "shared"), worker_of(client, kit, model, "shared/run-1"):
        handle = await start(client, "stage", "shared", activity_queue="shared/run-1")
        await asyncio.wait_for(handle.result(), 20)

    assert (await queues_of(handle))["a"] == "shared/run-1~provider"


async def test_planning_waits_in_the_queue_of_the_models_when_they_have_a_rate(client: Client) -> None:
    kit = ScriptedTools().toolkit(reads=("a",))
    async with worker_of(client, kit, ScriptedModel([fan_in("a")]), "modelled", model_rate=50):
        handle = await start(client, "stage", "modelled")
        result = await asyncio.wait_for(handle.result(), 20)

    queues = await queues_of(handle)
    assert result.status is RunStatus.SUCCEEDED
    assert queues.pop("draft_plan") == "modelled~model"
    assert set(queues.values()) == {"modelled"}


async def test_without_limits_there_is_no_other_queue(client: Client) -> None:
    async with worker_of(client, ScriptedTools().toolkit(reads=("a",)), ScriptedModel([fan_in("a")]), "plain"):
        handle = await start(client, "stage", "plain")
        await asyncio.wait_for(handle.result(), 20)

    assert set((await queues_of(handle)).values()) == {"plain"}
    assert await polls(client, "plain~model") == 0


@asynccontextmanager
async def queued(
    client: Client, task_queue: str, options: RunOptions
) -> AsyncIterator[tuple[WorkflowHandle[OrchestratorWorkflow, RunResult], ScriptedTools]]:
    """Start a run one of whose three calls is made at once, while the others wait for ten seconds each."""
    tools = ScriptedTools()
    kit = tools.toolkit(rate_limit=SLOW, timeout=timedelta(seconds=60))
    async with worker_of(client, kit, ScriptedModel([fan_in("a", "b", "c")]), task_queue):
        handle = await start(client, "stage", task_queue, options)
        async with asyncio.timeout(20):
            while not tools.calls:  # noqa: ASYNC110 - the tools set no event
                await asyncio.sleep(0.05)
        yield handle, tools


async def test_cancel_does_not_wait_for_calls_in_the_queue(client: Client) -> None:
    async with queued(client, "cancelled", RunOptions()) as (handle, tools):
        asked = monotonic()
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 20)

    assert monotonic() - asked < 6
    assert result.status is RunStatus.CANCELLED
    assert len(tools.calls) == 1


async def test_the_wall_clock_ends_calls_in_the_queue(client: Client) -> None:
    options = RunOptions(limits=Limits(max_wall_clock=timedelta(seconds=4)))
    async with queued(client, "timed", options) as (handle, tools):
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert len(tools.calls) == 1


async def test_a_run_that_waits_for_a_limit_that_nobody_serves_says_so_in_the_end(client: Client) -> None:
    kit = ScriptedTools().toolkit(reads=("a",), rate_limit=RateLimit(name="search", per_second=50))
    activities = Activities.of(kit, ScriptedModel([fan_in("a")]), lambda _: CARDS, MEMORY)
    options = RunOptions(limits=Limits(max_wall_clock=timedelta(seconds=3)))
    async with build_worker(client, activities, task_queue="unserved", workflow_runner=SANDBOX):
        handle = await start(client, "stage", "unserved", options)
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is RunStatus.BUDGET_EXHAUSTED
    assert {report.node.id: report.error for report in result.plan}["n_a"] == (
        "the wall-clock limit is reached; the call waited for a worker of unserved~search, which may not be served"
    )


async def test_a_throttled_call_holds_its_siblings_back(client: Client) -> None:
    throttled: list[Outcome] = [ToolError(ErrorCode.RATE_LIMITED, "slower", retry_after_s=1.5), "A"]
    tools = ScriptedTools({"a": throttled})
    kit = tools.toolkit(rate_limit=RateLimit(name="provider", per_second=4))
    async with worker_of(client, kit, ScriptedModel([fan_in("a", "b", "c", "d")]), "throttled"):
        result = await asyncio.wait_for((await start(client, "stage", "throttled")).result(), 20)

    first = next(call.started for call in tools.calls if call.tool == "a")
    later = [call.started for call in tools.calls if call.started > first and call.tool != "write_report"]
    assert result.status is RunStatus.SUCCEEDED
    assert later
    assert min(later) - first >= 1.4
    assert tools.count("b") == tools.count("c") == tools.count("d") == 1
