"""A flight: one node whose activity is under way."""

import asyncio
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityCancellationType

with workflow.unsafe.imports_passed_through():
    from harness.artifact import INLINE_BYTES
    from harness.binding import MAX_ARGUMENT_BYTES, Arguments, checked_arguments
    from harness.call import Call
    from harness.calls import ToolReply, ToolRequest
    from harness.catalog import Effect, ModelCard, ToolRole, ToolSpec
    from harness.grants import Grant
    from harness.model_choice import NO_CHOICE
    from harness.plan import PlanNode
    from harness.record import record
    from harness.result_facts import ResultFacts
    from harness.signature import Signature

from workflows.activity_options import HEARTBEAT_TIMEOUT, retries, within
from workflows.limited_queues import queue_of_tool
from workflows.node_state import NodeState
from workflows.run_core import RunCore
from workflows.spans import NodeSpan

MOST_BYTES_CHECKED = 65_536
_USUAL_RESULT_BYTES = ToolRequest().max_result_bytes


@record()
class Flight:
    """A node whose activity has not been settled."""

    state: NodeState
    tool: ToolSpec
    handle: "asyncio.Task[ToolReply]"
    grant: Grant
    card: ModelCard
    """The model by which the grant was made."""
    call: Call
    span: NodeSpan
    workflow_id: str = ""
    """The workflow of an agent; empty for an activity."""


def resolve(node: PlanNode, signature: Signature, facts: ResultFacts) -> Call:
    """Resolve the call of a node whose dependencies are DONE.

    Raises:
        ToolError: when a binding does not resolve, or the arguments are larger than a message can hold.
    """
    tool = signature.tool
    arguments = checked_arguments(node, tool, facts.results, limit=MAX_ARGUMENT_BYTES, signature=signature, facts=facts)
    return Call(tool, arguments)


def launch(run: RunCore, state: NodeState, tool: ToolSpec, *, call: Call, granted: Grant, card: ModelCard) -> Flight:
    """Start the activity of a node."""
    span = NodeSpan.start(run, state)
    with span.is_current():
        handle = workflow.start_activity(
            tool.name,
            _request(run, tool, call.arguments, granted),
            result_type=ToolReply,
            activity_id=f"{state.node.id}@{run.attempt}",
            start_to_close_timeout=within(tool.timeout),
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=retries(granted.tries, tool.backoff),
            task_queue=queue_of_tool(run, tool),
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=f"{state.node.id} · again" if state.tries else state.node.id,
        )
    return Flight(state, tool, handle, granted, card, call, span)


def _about_models(run: RunCore) -> dict[str, Any]:
    """Return what a tool that asks models must know of the run."""
    chosen, is_saving = run.request.options.models, run.is_high_pressure
    return ({} if chosen == NO_CHOICE else {"models": chosen}) | ({"is_saving": True} if is_saving else {})


def _request(run: RunCore, tool: ToolSpec, arguments: Arguments, granted: Grant) -> ToolRequest:
    """Build the request with the fields that differ from their default only: each byte is kept in history."""
    fields: dict[str, Any] = {"arguments": arguments.values} if arguments.values else {}
    if arguments.stored:
        fields["stored"] = arguments.stored
        if tool.effect is not Effect.READ and (written := run.keys_written()):
            fields["written"] = written
    if tool.effect is not Effect.READ:
        fields["effect"] = tool.effect
    if granted.tokens_per_try:
        fields["max_tokens"] = granted.tokens_per_try
    most = run.request.options.max_result_bytes
    limit = most if tool.max_result_bytes is None else min(most, tool.max_result_bytes)
    if limit != _USUAL_RESULT_BYTES:
        fields["max_result_bytes"] = limit
    if run.inline_bytes != INLINE_BYTES:
        fields["inline_bytes"] = run.inline_bytes
    if tool.role is ToolRole.FINAL_SYNTHESIS and run.feedback:
        fields["feedback"] = run.feedback
    if tool.max_model_tokens:
        fields |= _about_models(run)
    if arguments.most_bytes > MOST_BYTES_CHECKED:
        return ToolRequest.model_construct(**fields)  # What is valid already takes half a second to be checked again.
    return ToolRequest(**fields)
