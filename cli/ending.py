"""How a command that waited for a run ends: the answer on stdout, the outcome on stderr, the exit code."""

from typing import NoReturn, assert_never

from cli.answer_notes import answer_notes
from cli.exit_codes import ExitCode
from cli.plain_text import AnswerLostError, answer, block, say
from cli.process import end
from cli.render import as_json, outcome_line
from cli.run_kinds import Result
from cli.runs import Run
from cli.session import Session
from harness.loop import LoopStatus
from harness.run import RunStatus


def exit_code_of(status: RunStatus | LoopStatus) -> ExitCode:
    """Return the exit code that tells how a run ended."""
    match status:
        case RunStatus.SUCCEEDED | LoopStatus.COMPLETED:
            return ExitCode.SUCCEEDED
        case (
            RunStatus.FAILED_PLANNING
            | RunStatus.FAILED_VALIDATION
            | RunStatus.FAILED_EXECUTION
            | RunStatus.FAILED_VERIFICATION
            | LoopStatus.MAX_STEPS_EXCEEDED
            | LoopStatus.TIMEOUT
            | LoopStatus.NO_PROGRESS
            | LoopStatus.FAILED
        ):
            return ExitCode.FAILED
        case RunStatus.BUDGET_EXHAUSTED | LoopStatus.BUDGET_EXHAUSTED:
            return ExitCode.BUDGET_EXHAUSTED
        case RunStatus.CANCELLED | LoopStatus.CANCELLED:
            return ExitCode.CANCELLED
        case _:
            assert_never(status)


async def deliver(run: Run, result: Result, *, as_json_text: bool) -> ExitCode:
    """Print the result, and return the exit code that tells how the run ended."""
    result = await run.readable(result)
    code = exit_code_of(result.status)
    try:
        if as_json_text:
            answer(as_json(result))
        elif result.report is not None:
            answer(block(result.report))
    except AnswerLostError as lost:
        say(f"{lost.message} It is kept: python starter.py show {result.run_id}")
        code = code or lost.code
    for note in answer_notes(result):
        say(note)
    say(outcome_line(result))
    return code


def leave_at_once(session: Session, message: str) -> NoReturn:
    """End the process on the spot, without waiting for a worker in it, but not without its server."""
    say(message)
    session.address.abandon()
    end(ExitCode.CANCELLED)
