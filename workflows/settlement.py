"""What the end of a node means for the run: what it cost, how it stands, and the events that tell so."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.calls import ToolReply
    from harness.errors import ErrorCode, bounded
    from harness.recovery import code_of_effect
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind
    from harness.usage import TryRecord

from workflows.flight import Flight
from workflows.node_outcome import ActivityFailure, total_usage
from workflows.node_state import NodeState
from workflows.run_state import RunState


def settle_done(run: RunState, flight: Flight, reply: ToolReply) -> None:
    """Charge every try of a node that has its result, and mark it DONE."""
    state, usage = flight.state, total_usage(reply.tries, reply.usage)
    run.budget.settle(flight.grant.reserved, tool_calls=reply.try_number, usage=usage)
    _emit_retries(run, flight, reply.tries, before=reply.try_number)
    state.tries += reply.try_number
    state.usage = state.usage.plus(usage)
    state.latency_ms = reply.latency_ms
    state.status = NodeStatus.DONE
    if flight.arguments.key is not None:
        run.earned[flight.arguments.key] = reply.value
    data: dict[str, JsonValue] = {"tool": flight.tool.name, "tries": state.tries, "queue_ms": reply.queue_ms}
    if usage.model:
        data |= {"model": usage.model, "tokens": usage.total_tokens}
    run.emit(TraceKind.NODE_FINISH, state.status, node=state, latency_ms=reply.latency_ms, data=data)


def settle_failed(run: RunState, flight: Flight, failure: ActivityFailure, stopped: str | None) -> None:
    """Charge every try of a node without a result; mark it FAILED, or CANCELLED when the run has stopped it."""
    state = flight.state
    run.budget.settle(flight.grant.reserved, tool_calls=failure.tries_made, usage=failure.usage)
    if failure.is_exact:
        _emit_retries(run, flight, failure.tries, before=failure.tries_made)
    state.tries += failure.tries_made
    state.usage = state.usage.plus(failure.usage)
    state.latency_ms = failure.tries[-1].latency_ms if failure.tries else None
    if stopped is not None and failure.was_cancelled:
        fail(run, state, None, stopped, NodeStatus.CANCELLED)
    else:
        fail(run, state, code_of_effect(flight.tool.effect, failure.code), failure.message)


def fail(
    run: RunState, state: NodeState, code: ErrorCode | None, message: str, status: NodeStatus = NodeStatus.FAILED
) -> None:
    """Mark a node as ended without a result."""
    state.status, state.error, state.error_code = status, bounded(message), code
    data: dict[str, JsonValue] = {"tool": state.node.tool, "tries": state.tries, "errorCode": code}
    run.emit(TraceKind.NODE_FAIL, status, node=state, latency_ms=state.latency_ms, message=state.error, data=data)


def skip(run: RunState, state: NodeState, reason: str) -> None:
    """Mark a node as not run."""
    state.status, state.error = NodeStatus.SKIPPED, reason
    run.emit(TraceKind.NODE_SKIP, state.status, node=state, message=reason, data={"tool": state.node.tool})


def reuse(run: RunState, state: NodeState) -> None:
    """Mark a node as DONE by a result that an earlier attempt has paid for."""
    state.status, state.reused = NodeStatus.DONE, True
    run.emit(TraceKind.NODE_REUSE, state.status, node=state, data={"tool": state.node.tool})


def _emit_retries(run: RunState, flight: Flight, tries: tuple[TryRecord, ...], *, before: int) -> None:
    """Emit one node.retry for each try before the one of this number, those lost with their worker included."""
    recorded = {record.number: record for record in tries}
    for number in range(1, before):
        record = recorded.get(number)
        run.emit(
            TraceKind.NODE_RETRY,
            "RETRYING",
            node=flight.state,
            latency_ms=record.latency_ms if record else None,
            message=record.message if record else "the worker was lost",
            data={
                "tool": flight.tool.name,
                "try": flight.state.tries + number,
                "errorCode": record.code if record else ErrorCode.TIMEOUT,
            },
        )
