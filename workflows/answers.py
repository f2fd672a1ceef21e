"""What a run says of itself: its result at the end, its state on the way, both within what one message can hold."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.message_fit import fit_result, fit_view
    from harness.run import RunResult, RunView

from workflows.run_state import Ending, RunState


def result_of(state: RunState, ending: Ending) -> RunResult:
    """Return the result of a run that has ended."""
    return fit_result(
        RunResult(
            run_id=state.run_id,
            session_id=state.request.session_id,
            status=ending.status,
            report=ending.report,
            error=ending.error,
            error_class=ending.error_class,
            error_code=ending.error_code,
            verdict=state.verdict,
            plan=state.node_reports(),
            attempts=tuple(state.attempts),
            budget=state.budget.snapshot(state.elapsed),
            trace=tuple(state.trace),
            trace_dropped=state.trace_dropped,
            model=state.model,
        )
    )


def view_of(state: RunState) -> RunView:
    """Return a run as it is now."""
    return fit_view(
        RunView(
            run_id=state.run_id,
            session_id=state.request.session_id,
            goal=state.request.goal,
            phase=state.phase,
            attempt=state.attempt,
            status=state.ending.status if state.ending else None,
            nodes=state.node_reports(),
            budget=state.budget.snapshot(state.elapsed),
            model=state.model,
            trace_length=state.trace_dropped + len(state.trace),
        )
    )
