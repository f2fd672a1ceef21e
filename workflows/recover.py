"""What follows from a failure: the decision of harness.recovery, recorded in the trace and carried out."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from collections.abc import Mapping

    from pydantic import JsonValue

    from harness.artifact import Result
    from harness.errors import ErrorClass, ErrorCode
    from harness.partial_report import partial_report
    from harness.recovery import (
        FailedNode,
        FailureContext,
        RecoveryAction,
        Situation,
        bounded_failure,
        decide,
        describe_failure,
    )
    from harness.run import FAILED_STATUS, AttemptRecord, RunPhase, RunStatus
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind

from workflows.run_state import RunState


def recover(
    state: RunState,
    error_class: ErrorClass,
    message: str,
    *,
    code: ErrorCode | None = None,
    unfinished: Mapping[str, Result] | None = None,
    wanted: tuple[str, ...] = (),
) -> RunPhase:
    """Decide what follows from a failure of the current phase; record both the rule and what is really done.

    `unfinished` are the results so far of a plan that could run again as it is; None when there is no such plan.
    `wanted` are tools that the next planner must be shown.
    """
    decision = decide(_situation(state, error_class, unfinished))
    data: dict[str, JsonValue] = {"errorClass": error_class, "outcome": decision.outcome}
    state.emit(TraceKind.RECOVERY_DECIDE, decision.action, message=decision.reason, data=data)
    match decision.outcome:
        case RecoveryAction.RETRY:
            return RunPhase.RETRYING
        case RecoveryAction.REPLAN:
            _record_attempt(state, error_class, message, wanted)
            return RunPhase.REPLANNING
        case RecoveryAction.EXHAUST:
            return exhaust(state, unfinished or {}, f"budget exhausted: {decision.reason}")
        case RecoveryAction.HALT:
            return _halt(state, error_class, message, code)


def exhaust(state: RunState, results: Mapping[str, Result], why: str) -> RunPhase:
    """End the run BUDGET_EXHAUSTED, with every finished result in a partial report."""
    report = partial_report(state.node_reports(), results, why)
    uncertain = any(node.error_code is ErrorCode.UNCERTAIN_EFFECT for node in state.nodes.values())
    return state.end(
        RunStatus.BUDGET_EXHAUSTED,
        report=report,
        error=why,
        error_class=ErrorClass.FATAL,
        error_code=ErrorCode.UNCERTAIN_EFFECT if uncertain else None,
    )


def _situation(state: RunState, error_class: ErrorClass, unfinished: Mapping[str, Result] | None) -> Situation:
    return Situation(
        error_class=error_class,
        can_retry_in_place=unfinished is not None,
        attempt=state.attempt,
        max_replans=state.request.options.max_replans,
        retries=state.retries,
        max_retries=state.request.options.max_run_retries,
        calls_needed=len(state.nodes) - len(unfinished or {}),
        calls_left=state.budget.calls_left,
        has_room=state.budget.pressure(state.elapsed) < 1.0,
        is_high_pressure=state.is_high_pressure,
    )


def _halt(state: RunState, error_class: ErrorClass, message: str, code: ErrorCode | None) -> RunPhase:
    context = _failure_context(state, error_class, message)
    return state.end(
        FAILED_STATUS[state.phase],
        error=describe_failure(context) if context.nodes else message,
        error_class=error_class,
        error_code=code or next((node.code for node in context.nodes), None),
    )


def _record_attempt(state: RunState, error_class: ErrorClass, message: str, wanted: tuple[str, ...]) -> None:
    failure = _failure_context(state, error_class, message)
    state.failures.append(failure.model_copy(update={"wanted": wanted}) if wanted else failure)
    state.attempts.append(
        AttemptRecord(
            attempt=state.attempt, phase=state.phase, error_class=error_class, error=message, nodes=state.node_reports()
        )
    )


def _failure_context(state: RunState, error_class: ErrorClass, message: str) -> FailureContext:
    nodes = state.nodes.values()
    failed = tuple(
        FailedNode(id=n.node.id, tool=n.node.tool, code=n.error_code or ErrorCode.INTERNAL, message=n.error or "")
        for n in nodes
        if n.status is NodeStatus.FAILED
    )
    skipped = tuple(n.node.id for n in nodes if n.status is NodeStatus.SKIPPED)
    return bounded_failure(
        FailureContext(
            attempt=state.attempt,
            phase=state.phase,
            error_class=error_class,
            message=message,
            nodes=failed,
            skipped=skipped,
        )
    )
