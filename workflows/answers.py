"""What a run says of itself: its result at the end, its state on the way within what one message can hold."""

from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.message_fit import fit_view
    from harness.run import NodeReport, RunResult, RunStatus, RunView
    from harness.schedule import NodeStatus
    from harness.trace_log import Trace

from workflows.run_core import Ending
from workflows.run_state import RunState

MAX_NODES_SHOWN = 1000
_REMARKABLE = frozenset({NodeStatus.RUNNING, NodeStatus.FAILED})


def result_of(state: RunState, ending: Ending) -> RunResult:
    """Return the result of a run that has ended; the data converter cuts it where it is too large for a message."""
    said = {"guardrails": tuple(state.guardrails), "ungrounded": state.ungrounded}
    result = RunResult(
        run_id=state.run_id,
        session_id=state.request.session_id,
        status=RunStatus(ending.status),
        report=ending.report,
        error=ending.error,
        error_class=ending.error_class,
        error_code=ending.error_code,
        verdict=state.verdict,
        plan=state.node_reports(),
        attempts=tuple(state.attempts),
        budget=state.budget.snapshot(state.elapsed),
        trace=Trace(state.trace),
        trace_pages=tuple(state.trace_pages),
        model=state.model,
    )
    return result.model_copy(update={name: value for name, value in said.items() if value})


def view_of(state: RunState, *, most_nodes: int = MAX_NODES_SHOWN) -> RunView:
    """Return a run as it is now, with its nodes; of a plan with more than `most_nodes` those that need attention."""
    total = len(state.plan.nodes) if state.plan else 0
    reports = state.node_reports() if total <= most_nodes else _remarkable(state, most_nodes)
    counts = state.counts or {NodeStatus.PENDING: total}
    return fit_view(
        RunView(
            run_id=state.run_id,
            session_id=state.request.session_id,
            goal=state.request.goal,
            phase=state.phase,
            attempt=state.attempt,
            status=RunStatus(state.ending.status) if state.ending else None,
            counts={status: count for status, count in counts.items() if count},
            nodes=reports,
            nodes_dropped=total - len(reports),
            budget=state.budget.snapshot(state.elapsed),
            model=state.model,
            trace_pages=tuple(state.trace_pages),
            trace_length=state.trace_offset + len(state.trace),
        )
    )


def _remarkable(state: RunState, most: int) -> tuple[NodeReport, ...]:
    if not most:
        return ()
    nodes = (node for node in state.nodes.values() if node.status in _REMARKABLE)
    return tuple(node.report() for node in islice(nodes, most))
