"""The commands that change a run under way: cancel and extend."""

import asyncio
from contextlib import closing

from temporalio.client import WorkflowExecutionDescription

from cli.ending import exit_code_of
from cli.error_words import ending
from cli.exit_codes import ExitCode, Refusal
from cli.interrupts import Interrupts
from cli.plain_text import answer, say
from cli.pollers import require_worker
from cli.progress import choose_progress
from cli.render import as_json, budget_rows, outcome_line
from cli.runs import Run, is_running, queue_of, work_queue_of
from cli.serving import stand_in
from cli.session import WorkerFactory, open_session
from cli.starting import cancel_and_wait
from cli.watching import refuse_unknown_run
from harness.budget import Extension

WORKER_WAIT_S = 5.0


async def cancel(run_id: str, worker_factory: WorkerFactory, interrupts: Interrupts) -> ExitCode:
    """Cancel a run and wait until it has ended."""
    async with open_session(refuse_unknown_run(run_id)) as session:
        run = Run(session.client, run_id)
        queue = await work_queue_of(await _require_running(run))
        async with stand_in(session, run, queue, worker_factory):
            leave = asyncio.Event()
            with interrupts.handled_by(leave.set), closing(choose_progress()) as progress:
                result = await cancel_and_wait(run, session, progress, leave)
    say(outcome_line(result))
    return ExitCode.SUCCEEDED if exit_code_of(result.status) is ExitCode.CANCELLED else ExitCode.FAILED


async def extend(run_id: str, more: Extension, *, as_json_text: bool) -> ExitCode:
    """Raise the limits of a run."""
    async with open_session(refuse_unknown_run(run_id)) as session:
        run = Run(session.client, run_id)
        queue = queue_of(await _require_running(run))
        await require_worker(session.client, queue, WORKER_WAIT_S, why=f"so run {run_id} cannot be extended")
        budget = await run.extend(more)
    limits = ", ".join(f"{row.name} {row.text}" for row in budget_rows(budget))
    answer(as_json(budget) if as_json_text else f"Run {run_id} may now use: {limits}")
    return ExitCode.SUCCEEDED


async def _require_running(run: Run) -> WorkflowExecutionDescription:
    description = await run.describe()
    if not is_running(description):
        result = await run.result()
        raise Refusal(f"Run {run.id} has ended already: {ending(result)}.")
    return description
