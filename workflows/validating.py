"""The phase VALIDATING: the plan against every rule, before anything of it runs."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.catalog import Catalog
    from harness.errors import ErrorClass
    from harness.plan import Plan
    from harness.routed_catalog import wanted_tools
    from harness.run import RunPhase
    from harness.trace import TraceKind
    from harness.validation import summarize, validate

from workflows.recover import recover
from workflows.run_state import RunState


def check_plan(state: RunState, plan: Plan, catalog: Catalog, *, reusable: int) -> RunPhase:
    """Check a plan, of which so many nodes need no call because their results are paid for."""
    violations = validate(
        plan,
        catalog,
        max_nodes=state.request.options.max_plan_nodes,
        calls_left=state.budget.calls_left + reusable,
    )
    if not violations:
        state.emit(TraceKind.VALIDATION_FINISH, "DONE", message="validation finished")
        return RunPhase.EXECUTING
    text = summarize(violations)
    data: dict[str, JsonValue] = {"violations": len(violations)}
    state.emit(TraceKind.VALIDATION_FINISH, "FAILED", message=text, data=data)
    return recover(state, ErrorClass.VALIDATION, text, wanted=wanted_tools(plan, catalog))
