"""Following a run: its progress is polled while its result is awaited, until it ends or somebody interrupts."""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Never

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from cli.plain_text import say
from cli.progress import Progress
from cli.run_kinds import Result
from cli.runs import Run

POLL_S = 0.25
SILENCE_S = 15
"""After this long without an answer the user is told that no worker is there."""

Watch = Coroutine[None, None, None]
"""Goes on beside the waiting, and ends it only by an error."""


async def follow(run: Run, progress: Progress, stop: asyncio.Event, *watches: Watch) -> Result | None:
    """Show a run until it ends; return None when `stop` is set first."""
    result = asyncio.create_task(run.result())
    stopping = asyncio.create_task(stop.wait())
    watching = asyncio.gather(_poll(run, progress), *watches)
    waiting: tuple[asyncio.Future[Any], ...] = (result, stopping, watching)
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            progress.end(result.result())
            return result.result()
        if watching.done():
            watching.result()
        return None
    finally:
        await _cancel(*waiting)


async def _poll(run: Run, progress: Progress) -> Never:
    """Show what the run answers; when it does not, try again."""
    answered = time.monotonic()
    is_told = False
    while True:
        try:
            await progress.update(run)
            answered = time.monotonic()
        except (RPCError, WorkflowQueryFailedError) as error:
            if time.monotonic() - answered > SILENCE_S and not is_told:
                say(f"Run {run.id} does not answer. {_advice(error)}")
                is_told = True
        await asyncio.sleep(POLL_S)


def _advice(error: RPCError | WorkflowQueryFailedError) -> str:
    if isinstance(error, RPCError) and error.status is RPCStatusCode.UNAVAILABLE:
        return "The Temporal server is away; waiting for it to come back."
    return "It waits for a worker: start one with `python worker.py`."


async def _cancel(*futures: "asyncio.Future[Any]") -> None:
    for future in futures:
        future.cancel()
    for future in futures:
        with suppress(asyncio.CancelledError, Exception):
            await future
