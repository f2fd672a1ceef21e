"""What an agent loop says of itself: its result at the end, its state on the way."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.loop import LoopResult, LoopStatus, LoopView
    from harness.loop_fit import fit_loop_view
    from harness.trace_log import Trace

from workflows.loop_state import LoopState
from workflows.run_core import Ending


def loop_result(state: LoopState, ending: Ending) -> LoopResult:
    """Return the result of a loop that has ended; the data converter cuts it where it is too large for a message."""
    said = {
        "step_pages": tuple(state.step_pages),
        "trace_pages": tuple(state.trace_pages),
        "guardrails": tuple(state.guardrails),
        "ungrounded": state.ungrounded,
        "has_written": state.has_written,
        "written": tuple(state.agent.writes.keys) if state.agent else (),
        "continued": state.continued,
    }
    return LoopResult.model_validate(
        {
            "run_id": state.run_id,
            "session_id": state.request.session_id,
            "status": ending.status,
            "report": ending.report,
            "error": ending.error,
            "error_class": ending.error_class,
            "error_code": ending.error_code,
            "steps_made": state.agent.steps_made if state.agent else 0,
            "steps": tuple(state.steps),
            "budget": state.budget.snapshot(state.elapsed),
            "usage": state.usage,
            "trace": Trace(state.trace),
            "model": state.model,
            **{name: value for name, value in said.items() if value},
        }
    )


def loop_view(state: LoopState) -> LoopView:
    """Return a loop as it is now, with as many of its newest steps as a message holds."""
    return fit_loop_view(whole_view(state))


def whole_view(state: LoopState) -> LoopView:
    """Return a loop as it is now, whatever the size of its steps: not for a message."""
    return LoopView(
        run_id=state.run_id,
        session_id=state.request.session_id,
        goal=state.request.goal,
        phase=state.phase,
        status=LoopStatus(state.ending.status) if state.ending else None,
        steps_made=state.agent.steps_made if state.agent else 0,
        max_steps=state.request.options.loop.max_steps,
        steps=tuple(state.recent),
        in_flight=tuple(node.node.tool for node in state.in_flight.values()),
        context_tokens=state.agent.context_tokens if state.agent else 0,
        budget=state.budget.snapshot(state.elapsed),
        model=state.model,
        trace_pages=tuple(state.trace_pages),
        trace_length=state.trace_offset + len(state.trace),
    )
