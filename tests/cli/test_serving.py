"""Who works on a run: its own starter, and somebody else only when that has gone."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus

from cli import serving
from cli.connection import connect
from cli.dev_server import ServerAddress, embedded_server
from cli.exit_codes import ExitCode
from cli.runs import Run
from cli.serving import serve_own_run, stand_in
from cli.session import Session
from tests.cli.shell import Shell, started_run, wait_for_line
from workflows.task_queue import private_task_queue, task_queue

PUBLIC = task_queue("games")
PRIVATE = private_task_queue("games", "run-1")


class NoClient:
    """Stands for a client that is asked nothing but a handle."""

    def get_workflow_handle(self, run_id: str, **_: object) -> str:
        return run_id


class Workers:
    """Remembers which queues are served."""

    def __init__(self) -> None:
        self.queues: list[str] = []

    @asynccontextmanager
    async def serve(self, _client: Client, queue: str, _driven: str | None) -> AsyncIterator[None]:
        self.queues.append(queue)
        try:
            yield
        finally:
            self.queues.remove(queue)


def session(*, is_embedded: bool, is_shared: bool) -> Session:
    return Session(cast("Client", NoClient()), ServerAddress("somewhere", is_shared=is_shared), is_embedded=is_embedded)


class Place(NamedTuple):
    """Where a run is looked at."""

    queue: str
    is_embedded: bool
    is_shared: bool = False
    has_poller: bool = False


@pytest.mark.parametrize(
    ("place", "queues"),
    [
        (Place(PUBLIC, is_embedded=True), [PUBLIC]),
        (Place(PUBLIC, is_embedded=True, is_shared=True), []),
        (Place(PUBLIC, is_embedded=False), []),
        (Place(PRIVATE, is_embedded=True, is_shared=True), [PRIVATE]),
        (Place(PRIVATE, is_embedded=True, has_poller=True), [PRIVATE]),
        (Place(PRIVATE, is_embedded=False), [PRIVATE]),
        (Place(PRIVATE, is_embedded=False, has_poller=True), []),
    ],
)
async def test_who_looks_at_a_run_serves_it_only_when_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Place, queues: list[str]
) -> None:
    async def has_polled(*_: object) -> bool:
        return place.has_poller

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(serving, "has_polled", has_polled)
    here = session(is_embedded=place.is_embedded, is_shared=place.is_shared)
    workers = Workers()

    async with stand_in(here, Run(here.client, "run-1"), place.queue, workers.serve) as helper:
        assert workers.queues == queues
        assert helper.is_serving == bool(queues)
    assert workers.queues == []


@pytest.mark.parametrize(
    ("status", "then"), [(WorkflowExecutionStatus.RUNNING, [PRIVATE]), (WorkflowExecutionStatus.COMPLETED, [])]
)
async def test_run_is_taken_over_when_its_starter_goes_before_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: WorkflowExecutionStatus, then: list[str]
) -> None:
    class Description:
        def __init__(self) -> None:
            self.status = status

    async def describe(_: Run) -> WorkflowExecutionDescription:
        return cast("WorkflowExecutionDescription", Description())

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Run, "describe", describe)
    here = session(is_embedded=True, is_shared=True)
    starter, watcher = Workers(), Workers()

    async with AsyncExitStack() as started:
        await started.enter_async_context(serve_own_run(here, "run-1", PRIVATE, starter.serve))
        async with stand_in(here, Run(here.client, "run-1"), PRIVATE, watcher.serve):
            await asyncio.sleep(0.2)
            assert (starter.queues, watcher.queues) == ([PRIVATE], [])
            await started.aclose()
            await asyncio.sleep(0.2)
            assert (starter.queues, watcher.queues) == ([], then)
    assert watcher.queues == []


async def test_only_its_own_starter_works_on_a_run_however_many_share_the_server(shell: Shell) -> None:
    async with embedded_server(shell.home) as address:
        client = await connect(address)
        with shell.running("--goal", "sleep 60") as one, shell.running("--goal", "sleep 60") as other:
            runs = {await asyncio.to_thread(started_run, starter): starter for starter in (one, other)}
            with shell.running("watch", next(iter(runs))) as watching:
                await asyncio.to_thread(wait_for_line, watching, "run.start")
                watching.send_signal(signal.SIGINT)
                assert "; it goes on." in await asyncio.to_thread(wait_for_line, watching, "Stopped watching")
            for run_id, starter in runs.items():
                starter.send_signal(signal.SIGINT)
                assert await asyncio.to_thread(starter.wait, 20) == ExitCode.CANCELLED
                handle = client.get_workflow_handle(run_id)
                described = await handle.describe()
                assert described.task_queue == task_queue("games")
                assert (await described.memo())["activity_queue"] == private_task_queue("games", run_id)
