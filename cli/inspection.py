"""The commands that look at a run: show and trace. What has ended is read from its stored result."""

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from temporalio.client import WorkflowExecutionDescription, WorkflowQueryFailedError
from temporalio.service import RPCError

from cli.exit_codes import ExitCode, Refusal
from cli.loop_story import story_of_loop_result, story_of_loop_view
from cli.plain_text import answer
from cli.pollers import how_to_serve, require_worker
from cli.progress import event_line
from cli.render import as_json, story_of_result, story_of_view
from cli.run_kinds import Result, View
from cli.runs import Run, is_running, memo_text, queue_of
from cli.session import Session, open_session
from cli.watching import refuse_unknown_run
from harness.loop import LoopResult, LoopView
from harness.trace import TraceEvent

T = TypeVar("T")

WORKER_WAIT_S = 2.0


async def show(run_id: str, *, as_json_text: bool) -> ExitCode:
    """Print a run as it is now, or as it ended."""
    async with open_session(refuse_unknown_run(run_id)) as session:
        run = Run(session.client, run_id)
        description = await run.describe()
        if is_running(description):
            view = await _ask(session, run, description, run.state)
            answer(*([as_json(view)] if as_json_text else _view_story(view)))
        else:
            result = await run.readable(await run.result())
            lines = _result_story(result, await memo_text(description, "goal"))
            answer(*([as_json(result)] if as_json_text else lines))
    return ExitCode.SUCCEEDED


async def trace(run_id: str, *, as_json_text: bool) -> ExitCode:
    """Print every event of a run, one on a line."""
    async with open_session(refuse_unknown_run(run_id)) as session:
        run = Run(session.client, run_id)
        description = await run.describe()
        is_open = is_running(description)
        if is_open:
            events = await _ask(session, run, description, run.whole_trace)
        else:
            events = (await run.result()).trace.events
    answer(*(as_json(event) if as_json_text else _stamped(event) for event in events))
    return ExitCode.SUCCEEDED


def _result_story(result: Result, goal: str) -> Iterator[str]:
    return story_of_loop_result(result, goal) if isinstance(result, LoopResult) else story_of_result(result, goal)


def _view_story(view: View) -> Iterator[str]:
    return story_of_loop_view(view) if isinstance(view, LoopView) else story_of_view(view)


async def _ask(
    session: Session, run: Run, description: WorkflowExecutionDescription, question: Callable[[], Awaitable[T]]
) -> T:
    """Ask a run under way, which only a worker can answer for."""
    queue = queue_of(description)
    await require_worker(session.client, queue, WORKER_WAIT_S, why=f"so run {run.id} cannot be asked")
    try:
        return await question()
    except (RPCError, WorkflowQueryFailedError) as error:
        raise Refusal(
            f"Run {run.id} has not ended and does not answer ({error}): try again, and if nobody works on it any more, "
            f"{how_to_serve(queue)}."
        ) from error


def _stamped(event: TraceEvent) -> str:
    return event_line(event, event.timestamp.isoformat(timespec="milliseconds"), limit=None)
