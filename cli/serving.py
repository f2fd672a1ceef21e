"""Which worker this process brings: never one that takes the work of another process out of its hands.

The process that serves a private run on the embedded server holds the run's claim, a file lock that ends with it.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from cli import home as state
from cli.exit_codes import Refusal
from cli.file_lock import FileLock, exclusive
from cli.plain_text import say
from cli.pollers import FRESH, has_polled
from cli.runs import Run, is_running
from cli.session import Session, WorkerFactory
from workflows.task_queue import is_private, task_queue, toolkit_of

CLAIMS = "claims"
"""Folder of the claims in the state directory."""
_NAME_CHARS = 200


@dataclass
class StandIn:
    """Whether this process works on a run that it only looks at."""

    is_serving: bool = False
    """True when the run stands still without this process."""


@asynccontextmanager
async def serve_own_run(
    session: Session, run_id: str, queue: str, worker_factory: WorkerFactory
) -> AsyncIterator[None]:
    """Serve the private task queue of a run that this process is about to start."""
    if not session.is_embedded:
        async with _worker(session, queue, worker_factory):
            yield
        return
    claim = _claim_file(run_id)
    async with exclusive(claim, wait_s=0):
        async with _worker(session, queue, worker_factory):
            yield
        claim.unlink()  # the run has ended; after an error it may have not, and the claim stays


@asynccontextmanager
async def stand_in(session: Session, run: Run, queue: str, worker_factory: WorkerFactory) -> AsyncIterator[StandIn]:
    """Serve a run that this process looks at, for as long as nobody else does."""
    if session.is_embedded and is_private(queue):
        async with _stand_in_for_starter(session, run, queue, worker_factory) as helper:
            yield helper
        return
    if is_private(queue):
        is_needed = not await has_polled(session.client, queue, datetime.now(UTC) - FRESH)
    else:
        is_needed = session.is_embedded and not session.address.is_shared
    async with _worker(session, queue, worker_factory) if is_needed else nullcontext():
        yield StandIn(is_serving=is_needed)


@asynccontextmanager
async def _stand_in_for_starter(
    session: Session, run: Run, queue: str, worker_factory: WorkerFactory
) -> AsyncIterator[StandIn]:
    claim = FileLock(_claim_file(run.id))
    try:
        if claim.try_exclusive():
            async with _worker(session, queue, worker_factory):
                yield StandIn(is_serving=True)
            return
    finally:
        claim.close()
    helper = StandIn()
    waiting = asyncio.create_task(_serve_once_free(helper, session, run, queue, worker_factory))
    try:
        yield helper
    finally:
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting


async def _serve_once_free(
    helper: StandIn, session: Session, run: Run, queue: str, worker_factory: WorkerFactory
) -> None:
    """Wait for the end of the process that serves a run, and take its place if the run goes on."""
    async with exclusive(_claim_file(run.id), wait_s=math.inf):
        try:
            if is_running(await run.describe()):
                async with _worker(session, queue, worker_factory):
                    say(f"The process that worked on run {run.id} has gone; this one takes its place.")
                    helper.is_serving = True
                    await asyncio.Event().wait()
        except Refusal as refusal:
            say(refusal.message)


def _worker(session: Session, queue: str, factory: WorkerFactory) -> AbstractAsyncContextManager[object]:
    """Bring a worker; for a private queue of the embedded server one that also drives the runs of the public queue.

    A run there waits in the public queue, so that any worker can answer for it; only its calls are private.
    """
    is_divided = session.is_embedded and is_private(queue)
    return factory(session.client, queue, task_queue(toolkit_of(queue)) if is_divided else None)


def _claim_file(run_id: str) -> Path:
    folder = state.state_dir() / CLAIMS
    state.create(folder)
    return folder / f"{quote(run_id, safe='')[:_NAME_CHARS]}.lock"
