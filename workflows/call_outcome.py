"""What came of a call of an agent loop: recorded in its history of steps, and told to the rules."""

import hashlib
import json
from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.errors import ErrorCode
    from harness.loop import StepRecord
    from harness.loop_calls import CallResult, ToolCall
    from harness.loop_effects import Refused

from workflows.loop_state import LoopState
from workflows.loop_telling import tell


@dataclass(frozen=True)
class Outcome:
    """How a call has ended."""

    result: CallResult
    tries: int
    latency_ms: int | None = None
    is_new_fact: bool = False
    may_have_written: bool = False


def take(loop: LoopState, call: ToolCall, outcome: Outcome) -> None:
    """Record what came of a call that was made, and let the rules know."""
    result = outcome.result
    held = {"artifact": result.artifact} if result.artifact else {"result": result.value}
    known = {
        "number": loop.rules.steps_made,
        "call": call.id,
        "tool": call.tool,
        "arguments": call.arguments,
        "success": result.code is None,
        "tries": outcome.tries,
        "latency_ms": outcome.latency_ms,
        **(held if result.code is None else {"error": result.message, "error_code": result.code}),
    }
    loop.record(StepRecord.model_validate(known))
    _let_know(loop, outcome)


def refuse(loop: LoopState, call: ToolCall, message: str, code: ErrorCode) -> None:
    """Record a call that the rules had accepted and that is not made, and let them know."""
    result = CallResult(id=call.id, tool=call.tool, code=code, message=message)
    tell(loop, (Refused(call, result),))
    _let_know(loop, Outcome(result, tries=0))


def leave(loop: LoopState, why: str, code: ErrorCode) -> None:
    """Record the calls that a loop which ends had wanted and not started."""
    if loop.agent is None:
        return
    for call in loop.agent.newest.pending:
        result = CallResult(id=call.id, tool=call.tool, code=code, message=f"not started: {why}")
        tell(loop, (Refused(call, result),))
        loop.agent.newest.end(result)  # Past the counting: what that decides comes too late.
        loop.agent.writes.forget(call, loop.tool(call.tool))


def _let_know(loop: LoopState, outcome: Outcome) -> None:
    told = loop.rules.called(
        outcome.result,
        digest=_digest(outcome.result),
        is_new_fact=outcome.is_new_fact,
        may_have_written=outcome.may_have_written,
    )
    tell(loop, told)


def _digest(result: CallResult) -> str:
    """Return what identifies a result; empty for a call that failed."""
    if result.code is not None:
        return ""
    if result.artifact is not None:
        return result.artifact.digest
    return hashlib.sha256(json.dumps(result.value, sort_keys=True).encode()).hexdigest()
