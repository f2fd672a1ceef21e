"""The command that starts a run and follows it to its end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio.client import Client

from cli.ending import deliver, leave_at_once
from cli.exit_codes import ExitCode, Refusal
from cli.follow import follow
from cli.interrupts import Interrupts
from cli.plain_text import answer, say
from cli.pollers import NoWorkerError, has_polled, no_worker, require_worker
from cli.progress import Progress, choose_progress
from cli.run_kinds import Mode, Result
from cli.run_start import new_run_id, start_run
from cli.runs import Run
from cli.serving import serve_own_run
from cli.session import Session, WorkerFactory, open_session
from harness.run import RunRequest
from workflows.task_queue import private_task_queue, task_queue

CANCEL_LIMIT_S = 30
"""How long a cancelled run may take to wind up before the command leaves it alone."""
ABANDON_LIMIT_S = 10
"""How long a run may take to wind up when its command has broken."""
NOBODY = (
    "--detach needs a server that stays, and here the server and its worker would end with this command: run "
    "`python worker.py --dev` in another terminal, or set TEMPORAL_ADDRESS, or leave --detach out."
)


@dataclass(frozen=True)
class StartOptions:
    """How a run is started and shown."""

    mode: Mode
    as_json: bool
    with_worker: bool
    worker_wait_s: float


async def start(
    request: RunRequest, options: StartOptions, worker_factory: WorkerFactory, interrupts: Interrupts
) -> ExitCode:
    """Start a run and follow it to its end; the first interrupt cancels it, the second leaves it."""
    async with open_session() as session:
        run_id = new_run_id()
        has_own_worker = session.is_embedded or options.with_worker
        queue = private_task_queue(request.toolkit, run_id) if has_own_worker else task_queue(request.toolkit)
        if not has_own_worker:
            await require_worker(session.client, queue, options.worker_wait_s)
        async with serve_own_run(session, run_id, queue, worker_factory) if has_own_worker else nullcontext():
            stop, leave = asyncio.Event(), asyncio.Event()
            with interrupts.handled_by(lambda: leave.set() if stop.is_set() else stop.set()):
                began = datetime.now(UTC)
                run = await _start(session, request, options.mode, run_id, queue)
                async with _ended_on_error(run):
                    say(f"Run {run.id} started on {session.address.target}.{session.ui_hint}")
                    watches = (
                        []
                        if has_own_worker
                        else [_refuse_dead_pollers(session.client, run, queue, began, options.worker_wait_s)]
                    )
                    with closing(choose_progress()) as progress:
                        result = await follow(run, progress, stop, *watches)
                        if result is None:
                            result = await cancel_and_wait(run, session, progress, leave)
        return await deliver(run, result, as_json_text=options.as_json)


async def start_detached(request: RunRequest, options: StartOptions) -> ExitCode:
    """Start a run, print its id, and leave it to the worker that is there."""
    async with open_session(refuse_to_start=_refuse_to_be_alone) as session:
        if session.is_embedded and not session.address.is_shared:
            _refuse_to_be_alone()
        queue = task_queue(request.toolkit)
        await require_worker(session.client, queue, options.worker_wait_s)
        run = await start_run(session.client, request, new_run_id(), queue, mode=options.mode)
        say(f"Started. To watch it: python starter.py watch {run.id}{session.ui_hint}")
        answer(f'{{"run_id": "{run.id}"}}' if options.as_json else run.id)
    return ExitCode.SUCCEEDED


async def cancel_and_wait(run: Run, session: Session, progress: Progress, leave: asyncio.Event) -> Result:
    """Cancel the run and wait for its result."""
    say(f"Cancelling run {run.id} and waiting for its result. The next Ctrl-C leaves at once.")
    look = f"See how it ends: python starter.py watch {run.id}"
    try:
        async with asyncio.timeout(CANCEL_LIMIT_S):
            await run.cancel()
            result = await follow(run, progress, leave)
    except TimeoutError:
        result = None
        look = f"The run has not ended within {CANCEL_LIMIT_S} s. {look}"
    if result is None:
        progress.close()
        leave_at_once(session, f"Left. {look}")
    return result


async def _start(session: Session, request: RunRequest, mode: Mode, run_id: str, queue: str) -> Run:
    """Start a run; on the embedded server it waits in the public queue, and only its calls in a private one."""
    if session.is_embedded:
        public = task_queue(request.toolkit)
        return await start_run(session.client, request, run_id, public, mode=mode, activity_queue=queue)
    return await start_run(session.client, request, run_id, queue, mode=mode)


@asynccontextmanager
async def _ended_on_error(run: Run) -> AsyncIterator[None]:
    """Leave no run at work that nobody is told about when its command breaks."""
    try:
        yield
    except NoWorkerError:
        await run.terminate("no worker took the run")
        raise
    except Refusal:  # the run has ended, or its server is away and the user is told how to find the run again
        raise
    except BaseException:  # a cancelled command breaks as well; what broke it goes on after the cleaning up
        with suppress(Exception):
            async with asyncio.timeout(ABANDON_LIMIT_S):
                await run.cancel()
                await run.result()
        raise


async def _refuse_dead_pollers(client: Client, run: Run, queue: str, began: datetime, wait_s: float) -> None:
    """Refuse a run that nobody takes: a worker that died a moment ago still looks like one that polls.

    A living worker with nothing to do holds a poll open and takes the run at once; one that is busy polls again soon.
    """
    await asyncio.sleep(wait_s)
    if not await run.is_picked_up() and not await has_polled(client, queue, began):
        raise no_worker(client, queue)


def _refuse_to_be_alone() -> None:
    raise Refusal(NOBODY)
