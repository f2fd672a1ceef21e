"""The phase CREATED: have the tools of the run described, which pins them in history for the attempt."""

from dataclasses import dataclass

from temporalio import workflow
from temporalio.exceptions import ApplicationError
from temporalio.workflow import ActivityCancellationType

with workflow.unsafe.imports_passed_through():
    from activities.run_activities import RunActivities
    from harness.agent_node import with_agents
    from harness.calls import DescribeRequest
    from harness.catalog import Catalog
    from harness.errors import UNKNOWN_TOOLKIT, ErrorCode, ToolError, bounded
    from harness.model_choice import NO_CHOICE
    from harness.permissions import missing_tools, permission_data, withheld_note
    from harness.run import RunPhase, RunStatus
    from harness.trace import TraceKind
    from harness.wire_size import encoded_size

from workflows.activity_options import SHORT, retries
from workflows.clock import Clock
from workflows.node_outcome import failure_of
from workflows.recover import exhaust
from workflows.run_core import OUT_OF_TIME, RunCore
from workflows.run_state import RunState

TRIES = 3
MAX_CATALOG_BYTES = 800_000
"""Largest encoded catalog: it is sent to the planner with the goal and five failures, over 2 MiB the run would hang."""


@dataclass(frozen=True)
class Undescribed:
    """Why a run has no catalog."""

    why: str
    code: ErrorCode | None = None
    """None when the time was over."""


async def describe_tools(state: RunState, clock: Clock) -> RunPhase:
    """Set the catalog of the attempt."""
    found = await catalog_of(state, clock)
    if isinstance(found, Catalog):
        return _take(state, found)
    if found.code is None:
        return exhaust(state, {}, found.why)
    return state.end(RunStatus.FAILED_PLANNING, error=found.why, error_code=found.code)


def _take(state: RunState, catalog: Catalog) -> RunPhase:
    """Take the catalog, unless no plan can be written with it."""
    lacking = missing_tools(catalog)
    if lacking is not None:
        return state.end(RunStatus.FAILED_PLANNING, error=bounded(lacking), error_code=ErrorCode.INVALID_ARGUMENT)
    try:
        state.catalog = with_agents(catalog) if state.request.options.allow_agents else catalog
    except ToolError as error:
        return state.end(RunStatus.FAILED_PLANNING, error=bounded(error.message), error_code=error.code)
    return RunPhase.PLANNING


async def catalog_of(state: RunCore, clock: Clock) -> Catalog | Undescribed:
    """Have the tools described that a run may use.

    Raises:
        ApplicationError: of type UNKNOWN_TOOLKIT when no worker serves the toolkit: the request is wrong, not the run.
    """
    described = workflow.start_activity_method(
        RunActivities.describe_catalog,
        _request(state),
        start_to_close_timeout=SHORT,
        retry_policy=retries(TRIES),
        summary=f"toolkit {state.request.toolkit}",
        task_queue=state.activity_queue,
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )
    await clock.wait_for(described)
    failure = failure_of(described, granted_tries=TRIES)
    if failure is None:
        return _checked(state, described.result())
    if failure.was_cancelled:
        return Undescribed(f"budget exhausted before planning: {OUT_OF_TIME}")
    if failure.kind == UNKNOWN_TOOLKIT:
        raise ApplicationError(failure.message, type=UNKNOWN_TOOLKIT, non_retryable=True)
    return Undescribed(failure.message, failure.code)


def _request(state: RunCore) -> DescribeRequest:
    """Build the request, with those options only that the run sets: each byte is kept in history."""
    request, options = DescribeRequest(toolkit=state.request.toolkit), state.request.options
    chosen = {
        "models": None if options.models == NO_CHOICE else options.models,
        "allow": options.allow,
        "deny": options.deny,
        "allow_writes": options.allow_writes,
    }
    return request.model_copy(update={name: value for name, value in chosen.items() if value})


def _checked(state: RunCore, catalog: Catalog) -> Catalog | Undescribed:
    """Return what the run may use, unless that is nothing, or too much to be told of."""
    if catalog.withheld or catalog.unmatched_patterns:
        message, data = withheld_note(catalog), permission_data(catalog)
        state.emit(TraceKind.PERMISSIONS_APPLY, "DONE", message=message, data=data)
    size = encoded_size(catalog)
    if size <= MAX_CATALOG_BYTES:
        return catalog
    why = f"toolkit {catalog.toolkit!r}: its catalog has {size:,} bytes, the limit is {MAX_CATALOG_BYTES:,}; offer less"
    return Undescribed(why, ErrorCode.PAYLOAD_TOO_LARGE)
