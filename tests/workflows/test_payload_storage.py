"""Large payloads travel by reference through the real server, and a lost one fails what needs it, at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.artifact_folders import Owner, folder_of
from activities.artifacts import ArtifactStore
from harness.run import RunPhase, RunResult, RunStatus, RunView
from tests.builders import NO_BUDGET
from workflows.data_converter import RESULT_INLINE_BYTES, STARTER_INLINE_BYTES, data_converter

pytestmark = pytest.mark.asyncio(loop_scope="session")

LARGE = 3_000_000
MEDIUM = 50_000
SOON_S = 20
LIMIT = timedelta(seconds=30)


@activity.defn
async def measure(text: str) -> int:
    """Take something large."""
    return len(text)


@activity.defn
async def enlarge(text: str) -> str:
    """Return something larger."""
    return text + "b" * LARGE


@activity.defn
async def beat(size: int) -> int:
    """Fail once, and then return how much the heartbeat of the first try has kept."""
    if activity.info().attempt == 1:
        activity.heartbeat("a" * size)
        raise RuntimeError
    return len(activity.info().heartbeat_details[0])


@workflow.defn
class Beater:
    """Has an activity remember something large between its tries."""

    @workflow.run
    async def run(self, size: int) -> int:
        return await workflow.execute_activity(beat, size, schedule_to_close_timeout=LIMIT)


@workflow.defn
class Carrier:
    """Takes a text, has an activity work on it, and returns the result."""

    @workflow.run
    async def run(self, text: str, activity_queue: str) -> str:
        return await workflow.execute_activity(
            enlarge, text, task_queue=activity_queue or None, schedule_to_close_timeout=LIMIT
        )


@workflow.defn
class Measurer:
    """Makes something large and hands it to an activity."""

    @workflow.run
    async def run(self, size: int, activity_queue: str) -> int:
        return await workflow.execute_activity(
            measure, "a" * size, task_queue=activity_queue or None, schedule_to_close_timeout=LIMIT
        )


@workflow.defn
class Reporter:
    """Answers and ends as a run does."""

    @workflow.run
    async def run(self, size: int) -> RunResult:
        return RunResult(run_id="run", session_id="", status=RunStatus.SUCCEEDED, report="a" * size, budget=NO_BUDGET)

    @workflow.query
    def state(self, size: int) -> RunView:
        return RunView(
            run_id="run", session_id="", goal="a" * size, phase=RunPhase.EXECUTING, attempt=0, budget=NO_BUDGET
        )


def with_store(client: Client, store: ArtifactStore) -> Client:
    return Client(**{**client.config(), "data_converter": data_converter(store)})


@asynccontextmanager
async def worker(client: Client, store: ArtifactStore) -> AsyncIterator[str]:
    queue = f"payloads-{uuid4().hex}"
    async with Worker(
        with_store(client, store),
        task_queue=queue,
        workflows=[Beater, Carrier, Measurer, Reporter],
        activities=[beat, enlarge, measure],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        yield queue


async def start(client: Client, queue: str, run: Any, *args: Any) -> WorkflowHandle[Any, Any]:
    return await client.start_workflow(run, args=args, id=f"payloads-{uuid4().hex}", task_queue=queue)


async def end_of(handle: WorkflowHandle[Any, Any]) -> Any:
    return await asyncio.wait_for(handle.result(), SOON_S)


async def history_bytes(handle: WorkflowHandle[Any, Any]) -> int:
    return sum(event.ByteSize() for event in (await handle.fetch_history()).events)


async def test_three_megabytes_travel_by_reference_in_and_out(client: Client, tmp_path: Path) -> None:
    store = ArtifactStore.open(str(tmp_path))
    async with worker(client, store) as queue:
        handle = await start(with_store(client, store), queue, Carrier.run, "a" * LARGE, "")
        result = await end_of(handle)

    assert result == "a" * LARGE + "b" * LARGE
    assert await history_bytes(handle) < 4_000
    (holding,) = await store.holdings(client.namespace)
    assert holding.folder == folder_of(Owner(client.namespace, handle.id))
    assert holding.objects == 2


async def test_a_small_value_stays_inline(client: Client, tmp_path: Path) -> None:
    store = ArtifactStore.open(str(tmp_path / "store"))
    async with worker(client, store) as queue:
        assert await end_of(await start(with_store(client, store), queue, Measurer.run, 10_000, "")) == 10_000

    assert not (tmp_path / "store").exists()


async def test_the_details_of_a_heartbeat_are_not_stored(client: Client, tmp_path: Path) -> None:
    store = ArtifactStore.open(str(tmp_path / "store"))
    async with worker(client, store) as queue:
        assert await end_of(await start(with_store(client, store), queue, Beater.run, MEDIUM)) == MEDIUM

    assert not (tmp_path / "store").exists()


async def test_a_lost_argument_fails_the_workflow_rather_than_hanging(client: Client, tmp_path: Path) -> None:
    there, elsewhere = (ArtifactStore.open(str(tmp_path / name)) for name in ("there", "elsewhere"))
    async with worker(client, there) as queue:
        handle = await start(with_store(client, elsewhere), queue, Carrier.run, "a" * MEDIUM, "")
        with pytest.raises(WorkflowFailureError) as failure:
            await end_of(handle)

    cause = failure.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "ARTIFACT_LOST"
    assert handle.id in str(cause)
    assert "WHIPPLETREE_ARTIFACTS" in str(cause)


async def test_a_lost_activity_input_fails_the_activity_at_the_first_try(client: Client, tmp_path: Path) -> None:
    there, elsewhere = (ArtifactStore.open(str(tmp_path / name)) for name in ("there", "elsewhere"))
    async with worker(client, there) as queue, worker(client, elsewhere) as other:
        with pytest.raises(WorkflowFailureError) as failure:
            await end_of(await start(with_store(client, there), queue, Measurer.run, MEDIUM, other))

    cause = failure.value.cause
    assert isinstance(cause, ActivityError)
    assert isinstance(cause.cause, ApplicationError)
    assert cause.cause.type == "ARTIFACT_LOST"
    assert cause.cause.non_retryable


async def test_a_lost_activity_result_fails_the_workflow_rather_than_hanging(client: Client, tmp_path: Path) -> None:
    there, elsewhere = (ArtifactStore.open(str(tmp_path / name)) for name in ("there", "elsewhere"))
    async with worker(client, there) as queue, worker(client, elsewhere) as other:
        handle = await start(with_store(client, there), queue, Carrier.run, "", other)
        with pytest.raises(WorkflowFailureError) as failure:
            await end_of(handle)

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "ARTIFACT_LOST"
    assert (await handle.describe()).status is WorkflowExecutionStatus.FAILED


async def test_a_lost_result_is_an_error_of_the_reader_alone(client: Client, tmp_path: Path) -> None:
    there, elsewhere = (ArtifactStore.open(str(tmp_path / name)) for name in ("there", "elsewhere"))
    async with worker(client, there) as queue:
        handle = await start(with_store(client, elsewhere), queue, Carrier.run, "", "")
        with pytest.raises(ApplicationError) as lost:
            await end_of(handle)

    assert lost.value.type == "ARTIFACT_LOST"
    assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED


async def test_the_answer_to_a_query_is_not_stored(client: Client, tmp_path: Path) -> None:
    store = ArtifactStore.open(str(tmp_path / "store"))
    async with worker(client, store) as queue:
        handle = await start(with_store(client, store), queue, Reporter.run, 0)
        await end_of(handle)
        view = await handle.query(Reporter.state, 1_000_000)

    assert len(view.goal) == 1_000_000
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("size", [RESULT_INLINE_BYTES - 1_000, RESULT_INLINE_BYTES + 1_000], ids=["smaller", "larger"])
async def test_a_result_of_ordinary_size_can_be_read_without_the_store(
    client: Client, tmp_path: Path, size: int
) -> None:
    store = ArtifactStore.open(str(tmp_path / "store"))
    async with worker(client, store) as queue:
        result = await end_of(await start(with_store(client, store), queue, Reporter.run, size))

    assert result.report == "a" * size
    assert (tmp_path / "store").exists() == (size > RESULT_INLINE_BYTES)


async def test_a_starter_sends_inline_what_a_request_may_have(client: Client, tmp_path: Path) -> None:
    elsewhere = ArtifactStore.open(str(tmp_path / "elsewhere"))
    converter = data_converter(elsewhere, threshold=STARTER_INLINE_BYTES)
    starter = Client(**{**client.config(), "data_converter": converter})
    async with worker(client, ArtifactStore.open(str(tmp_path / "there"))) as queue:
        handle = await start(starter, queue, Carrier.run, "a" * 130_000, "")
        with pytest.raises(ApplicationError, match="missing"):  # the large result; the workflow has run
            await end_of(handle)

    assert not (tmp_path / "elsewhere").exists()


async def test_a_failure_carries_no_stack_trace(client: Client, tmp_path: Path) -> None:
    there, elsewhere = (ArtifactStore.open(str(tmp_path / name)) for name in ("there", "elsewhere"))
    async with worker(client, there) as queue, worker(client, elsewhere) as other:
        handle = await start(with_store(client, there), queue, Measurer.run, MEDIUM, other)
        with pytest.raises(WorkflowFailureError):
            await end_of(handle)

    events = (await handle.fetch_history()).events
    failure = events[-1].workflow_execution_failed_event_attributes.failure
    while failure.HasField("cause"):
        assert failure.stack_trace == ""
        failure = failure.cause
    assert failure.message
    assert failure.stack_trace == ""
