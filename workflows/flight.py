"""A flight: one node whose activity is under way."""

from dataclasses import dataclass

from temporalio import workflow
from temporalio.workflow import ActivityCancellationType, ActivityHandle

with workflow.unsafe.imports_passed_through():
    from collections.abc import Mapping

    from pydantic import JsonValue

    from harness.binding import MAX_ARGUMENT_BYTES, checked_arguments, reuse_key
    from harness.calls import ToolReply, ToolRequest
    from harness.catalog import ModelCard, ToolRole, ToolSpec
    from harness.grants import Grant
    from harness.model_choice import NO_CHOICE
    from harness.plan import PlanNode

from workflows.activity_options import HEARTBEAT_TIMEOUT, retries, within
from workflows.node_state import NodeState
from workflows.run_state import RunState
from workflows.spans import NodeSpan


@dataclass(frozen=True)
class Arguments:
    """The arguments of a node, resolved."""

    values: dict[str, JsonValue]
    size: int
    """Encoded bytes."""
    key: str | None
    """Key under which the result may be reused by a later attempt; None when it may not."""


@dataclass(frozen=True)
class Flight:
    """A node whose activity has not been settled."""

    state: NodeState
    tool: ToolSpec
    handle: "ActivityHandle[ToolReply]"
    grant: Grant
    card: ModelCard
    """The model by which the grant was made."""
    arguments: Arguments
    span: NodeSpan


def resolve(node: PlanNode, tool: ToolSpec, results: Mapping[str, JsonValue]) -> Arguments:
    """Resolve the arguments of a node whose dependencies are DONE.

    Raises:
        ToolError: when a binding does not resolve, or the arguments are larger than a message can hold.
    """
    values, size = checked_arguments(node, tool, results, limit=MAX_ARGUMENT_BYTES)
    return Arguments(values, size, reuse_key(tool, values) if tool.is_reusable else None)


def launch(
    run: RunState, state: NodeState, tool: ToolSpec, *, arguments: Arguments, granted: Grant, card: ModelCard
) -> Flight:
    """Start the activity of a node."""
    span = NodeSpan.start(run, state)
    with span.is_current():
        handle = workflow.start_activity(
            tool.name,
            _request(run, tool, arguments.values, granted),
            result_type=ToolReply,
            activity_id=f"{state.node.id}@{run.attempt}",
            start_to_close_timeout=within(tool.timeout),
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=retries(granted.tries),
            task_queue=run.activity_queue,
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=f"{state.node.id} · try {state.tries + 1}",
        )
    return Flight(state, tool, handle, granted, card, arguments, span)


def _request(run: RunState, tool: ToolSpec, values: dict[str, JsonValue], granted: Grant) -> ToolRequest:
    """Build the request with the fields that differ from their default only: each byte is kept in history."""
    fields: dict[str, JsonValue] = {"arguments": values} if values else {}
    if granted.tokens_per_try:
        fields["max_tokens"] = granted.tokens_per_try
    limit = run.request.options.max_result_bytes
    if limit != ToolRequest.model_fields["max_result_bytes"].default:
        fields["max_result_bytes"] = limit
    if tool.role is ToolRole.FINAL_SYNTHESIS and run.feedback:
        fields["feedback"] = run.feedback
    request, models = ToolRequest.model_validate(fields), run.request.options.models
    if tool.max_model_tokens == 0 or models == NO_CHOICE:
        return request
    return request.model_copy(update={"models": models})
