"""A call of an agent loop's memory: remember or recall, an activity of its own, charged as a call like any other."""

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from activities.loop.loop_activities import LoopActivities
    from harness.errors import bounded
    from harness.grants import Grant
    from harness.loop_calls import CallResult, MemoryReply, MemoryRequest, ToolCall
    from harness.memory import REMEMBER
    from harness.plan import PlanNode
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind
    from harness.usage import NO_USAGE

from workflows.activity_options import SHORT, call_options
from workflows.call_outcome import Outcome, take
from workflows.clock import Clock
from workflows.loop_state import LoopState
from workflows.node_outcome import ActivityFailure, failure_of
from workflows.node_state import NodeState


async def use_memory(loop: LoopState, clock: Clock, call: ToolCall, granted: Grant) -> None:
    """Remember or recall."""
    node = NodeState(PlanNode(id=call.id, tool=call.tool, arguments=(), deps=()), loop.tool(call.tool).role)
    loop.emit(TraceKind.NODE_START, NodeStatus.RUNNING, node=node, data={"tool": call.tool})
    handle = _start(loop, call, granted)

    def settle() -> None:
        _settle(loop, call, node, granted, handle)

    await clock.wait_for(handle, on_stop=settle)
    settle()


def _start(loop: LoopState, call: ToolCall, granted: Grant) -> "ActivityHandle[MemoryReply]":
    known = {"facts": loop.facts} if loop.facts else {}
    return workflow.start_activity_method(
        LoopActivities.remember if call.tool == REMEMBER else LoopActivities.recall,
        MemoryRequest.model_validate({**known, "arguments": call.arguments}),
        activity_id=f"{call.id}@{loop.attempt}",
        **call_options(SHORT, tries=granted.tries, queue=loop.activity_queue, summary=call.id),
    )


def _settle(
    loop: LoopState, call: ToolCall, node: NodeState, granted: Grant, handle: "ActivityHandle[MemoryReply]"
) -> None:
    failure = failure_of(handle, granted_tries=granted.tries)
    tries = handle.result().try_number if failure is None else failure.tries_made
    loop.budget.settle(granted.reserved, tool_calls=tries, usage=NO_USAGE)
    if failure is None:
        _done(loop, call, node, handle.result())
    else:
        _failed(loop, call, node, failure)


def _done(loop: LoopState, call: ToolCall, node: NodeState, reply: MemoryReply) -> None:
    loop.facts = reply.facts
    data: dict[str, JsonValue] = {"tool": call.tool, "tries": reply.try_number}
    loop.emit(TraceKind.NODE_FINISH, NodeStatus.DONE, node=node, latency_ms=reply.latency_ms, data=data)
    take(
        loop,
        call,
        Outcome(
            CallResult(id=call.id, tool=call.tool, value=reply.value),
            tries=reply.try_number,
            latency_ms=reply.latency_ms,
            is_new_fact=reply.is_new,
        ),
    )


def _failed(loop: LoopState, call: ToolCall, node: NodeState, failure: ActivityFailure) -> None:
    status = NodeStatus.CANCELLED if failure.was_cancelled else NodeStatus.FAILED
    data: dict[str, JsonValue] = {"tool": call.tool, "tries": failure.tries_made, "errorCode": failure.code}
    loop.emit(TraceKind.NODE_FAIL, status, node=node, message=bounded(failure.message), data=data)
    result = CallResult(id=call.id, tool=call.tool, code=failure.code, message=failure.message)
    take(loop, call, Outcome(result, tries=failure.tries_made))
