"""The phase VERIFYING: the structural rules, then the toolkit's own rule in an activity."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.run_activities import RunActivities
    from harness.artifact import StoredResult
    from harness.calls import VerifyRequest
    from harness.catalog import Catalog
    from harness.errors import ErrorClass, ErrorCode
    from harness.plan import Plan
    from harness.run import RunPhase, RunStatus
    from harness.trace import TraceKind
    from harness.verification import (
        Verdict,
        bounded_verdict,
        final_node_id,
        report_text,
        sources_of,
        verify_structure,
    )
    from harness.wire_size import encoded_size

from workflows.activity_options import SHORT, call_options, within
from workflows.clock import Clock
from workflows.node_outcome import failure_of
from workflows.recover import recover
from workflows.run_state import RunState

TRIES = 3
MAX_CHECKED_BYTES = 16_777_216
"""Largest encoded report with those sources that are not in the artifact store, which is sent to be checked."""


async def verify(state: RunState, plan: Plan, catalog: Catalog, clock: Clock) -> RunPhase:
    """Publish the report of a finished plan if it passes; nothing else opens that gate."""
    statuses = {node_id: node.status for node_id, node in state.nodes.items()}
    verdict = verify_structure(plan, catalog, statuses, state.results)
    if verdict.passed and catalog.has_verifier:
        verdict = await _judge(state, plan, catalog, clock)
    state.verdict = verdict
    status = "DONE" if verdict.passed else "FAILED"
    data = {"outcome": verdict.outcome}
    state.emit(TraceKind.VERIFICATION_FINISH, status, message=verdict.reason, data={**data})
    if verdict.passed:
        report = report_text(state.results[final_node_id(plan, catalog)]) or ""
        # Those of earlier reports, or of an agent whose answer went elsewhere, say nothing about this one.
        state.ungrounded = tuple(figure for figure in state.ungrounded if figure in report)
        return state.end(RunStatus.SUCCEEDED, report=report)
    state.feedback = verdict.reason
    error_class = ErrorClass.VALIDATION if verdict.outcome == "REJECTED" else ErrorClass.FATAL
    code = ErrorCode.INVALID_OUTPUT if verdict.outcome == "REJECTED" else ErrorCode.TOOL_EXECUTION_FAILED
    return recover(state, error_class, verdict.reason, code=code)


async def _judge(state: RunState, plan: Plan, catalog: Catalog, clock: Clock) -> Verdict:
    """Have the toolkit check the report against what it was written from. The work is paid for, so it may overrun."""
    final = final_node_id(plan, catalog)
    report, sources = StoredResult.of(state.results[final]).value, sources_of(plan, final, state.results)
    size = encoded_size([report, sources.values])
    if size > MAX_CHECKED_BYTES:
        why = f"report and sources have {size:,} bytes, the limit of a check is {MAX_CHECKED_BYTES:,}"
        return _not_verified(f"{why}; give the report fewer or smaller sources")
    checked = workflow.start_activity_method(
        RunActivities.verify_report,
        VerifyRequest.model_validate(
            {
                "goal": state.request.goal,
                "toolkit": state.request.toolkit,
                "report": report,
                "results": sources.values,
                **({"stored": sources.stored} if sources.stored else {}),
            }
        ),
        **call_options(within(SHORT), tries=TRIES, queue=state.activity_queue, summary=f"report of {final}"),
    )
    await clock.wait_for(checked, may_overrun=True)
    failure = failure_of(checked, granted_tries=TRIES)
    if failure is None:
        return bounded_verdict(checked.result())
    return _not_verified(failure.message)


def _not_verified(why: str) -> Verdict:
    return Verdict(outcome="NOT_VERIFIED", reasons=(f"the report could not be checked: {why}",))
