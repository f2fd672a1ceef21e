"""The command that starts a run and follows it to its end."""

import asyncio
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio.client import Client

from cli.ending import deliver, leave_at_once
from cli.exit_codes import ExitCode, Refusal
from cli.follow import follow
from cli.interrupts import Interrupts
from cli.plain_text import say
from cli.pollers import NoWorkerError, has_polled, no_worker, require_worker
from cli.progress import Progress, choose_progress
from cli.runs import Run, start_run
from cli.session import Session, WorkerFactory, open_session
from harness.run import RunRequest, RunResult

CANCEL_LIMIT_S = 30
"""How long a cancelled run may take to wind up before the command leaves it alone."""
NOBODY = (
    "--detach needs a server that stays, and here the server and its worker would end with this command: run "
    "`python worker.py --dev` in another terminal, or set TEMPORAL_ADDRESS, or leave --detach out."
)


@dataclass(frozen=True)
class StartOptions:
    """How a run is started and shown."""

    as_json: bool
    with_worker: bool
    worker_wait_s: float


async def start(
    request: RunRequest, options: StartOptions, worker_factory: WorkerFactory, interrupts: Interrupts
) -> ExitCode:
    """Start a run and follow it to its end; the first interrupt cancels it, the second leaves it."""
    async with open_session() as session:
        has_own_worker = session.is_embedded or options.with_worker
        if not has_own_worker:
            await require_worker(session.client, request.toolkit, options.worker_wait_s)
        async with worker_factory(session.client, request.toolkit) if has_own_worker else nullcontext():
            stop, leave = asyncio.Event(), asyncio.Event()
            with interrupts.handled_by(lambda: leave.set() if stop.is_set() else stop.set()):
                began = datetime.now(UTC)
                run = await start_run(session.client, request)
                say(f"Run {run.id} started on {session.address.target}.{session.ui_hint}")
                watches = (
                    []
                    if has_own_worker
                    else [_refuse_dead_pollers(session.client, run, request, began, options.worker_wait_s)]
                )
                with closing(choose_progress()) as progress:
                    try:
                        result = await follow(run, progress, stop, *watches)
                    except NoWorkerError:
                        await run.terminate("no worker took the run")
                        raise
                    if result is None:
                        result = await cancel_and_wait(run, session, progress, leave)
        return deliver(result, as_json_text=options.as_json)


async def start_detached(request: RunRequest, options: StartOptions) -> ExitCode:
    """Start a run, print its id, and leave it to the worker that is there."""
    async with open_session(refuse_to_start=_refuse_to_be_alone) as session:
        if session.is_embedded and not session.address.is_shared:
            _refuse_to_be_alone()
        await require_worker(session.client, request.toolkit, options.worker_wait_s)
        run = await start_run(session.client, request)
        print(f'{{"run_id": "{run.id}"}}' if options.as_json else run.id, flush=True)
        say(f"Started. To watch it: python starter.py watch {run.id}{session.ui_hint}")
    return ExitCode.SUCCEEDED


async def cancel_and_wait(run: Run, session: Session, progress: Progress, leave: asyncio.Event) -> RunResult:
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


async def _refuse_dead_pollers(client: Client, run: Run, request: RunRequest, began: datetime, wait_s: float) -> None:
    """Refuse a run that nobody takes: a worker that died a moment ago still looks like one that polls.

    A living worker with nothing to do holds a poll open and takes the run at once; one that is busy polls again soon.
    """
    await asyncio.sleep(wait_s)
    if not await run.is_picked_up() and not await has_polled(client, request.toolkit, began):
        raise no_worker(client, request.toolkit)


def _refuse_to_be_alone() -> None:
    raise Refusal(NOBODY)
