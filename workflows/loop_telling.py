"""Decisions of the loop's rules, told in the trace."""

from typing import assert_never

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.errors import bounded
    from harness.loop import StepRecord
    from harness.loop_effects import Closing, Hinted, Refused, Told
    from harness.trace import TraceKind

from workflows.loop_state import LoopState


def tell(state: LoopState, told: Told) -> None:
    """Record what the rules have decided."""
    for each in told:
        match each:
            case Refused():
                _tell_refusal(state, each)
            case Hinted():
                state.emit(TraceKind.LOOP_HINT, "TOLD", message=bounded(each.text, 500))
            case Closing():
                state.emit(TraceKind.LOOP_CLOSE, each.status, message=each.reason)
            case _:
                assert_never(each)


def _tell_refusal(state: LoopState, refused: Refused) -> None:
    call, result = refused.call, refused.result
    state.record(
        StepRecord(
            number=state.rules.steps_made,
            call=call.id,
            tool=call.tool,
            arguments=call.arguments,
            success=False,
            error=result.message,
            error_code=result.code,
        )
    )
    data: dict[str, JsonValue] = {"call": call.id, "tool": call.tool, "errorCode": result.code}
    state.emit(TraceKind.CALL_REFUSE, "REFUSED", message=bounded(result.message, 500), data=data)
