"""The command that watches a run that somebody else has started."""

import asyncio
from collections.abc import Callable
from contextlib import closing

from cli import home as state
from cli.ending import deliver
from cli.exit_codes import ExitCode, Refusal
from cli.follow import follow
from cli.interrupts import Interrupts
from cli.plain_text import say
from cli.progress import choose_progress
from cli.runs import Run, is_running, work_queue_of
from cli.serving import StandIn, stand_in
from cli.session import WorkerFactory, open_session


async def watch(run_id: str, worker_factory: WorkerFactory, interrupts: Interrupts, *, as_json_text: bool) -> ExitCode:
    """Watch a run to its end; a worker in this process keeps it going when nobody else does."""
    async with open_session(refuse_unknown_run(run_id)) as session:
        run = Run(session.client, run_id)
        description = await run.describe()
        if not is_running(description):
            return await deliver(run, await run.result(), as_json_text=as_json_text)
        async with stand_in(session, run, await work_queue_of(description), worker_factory) as helper:
            stop = asyncio.Event()
            with interrupts.handled_by(stop.set), closing(choose_progress()) as progress:
                result = await follow(run, progress, stop)
            if result is None:
                say(f"Stopped watching run {run_id}; {_what_becomes_of_it(helper)}")
                return ExitCode.INTERRUPTED
        return await deliver(run, result, as_json_text=as_json_text)


def refuse_unknown_run(run_id: str) -> Callable[[], None]:
    """Return a check for the moment before an embedded server is started only to look for a run."""

    def check() -> None:
        if not (state.state_dir() / "temporal.db").exists():
            raise Refusal(
                f"There is no run {run_id!r} here: nothing has been run in {state.state_dir()}. Change to the "
                f"directory of the run, or set {state.SETTING} or TEMPORAL_ADDRESS."
            )

    return check


def _what_becomes_of_it(helper: StandIn) -> str:
    return "it waits until it is watched again." if helper.is_serving else "it goes on."
