"""What the end of a node means for the run: what it cost, how it stands, and the events that tell so."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import JsonValue

    from harness.artifact import Artifact
    from harness.calls import AgentReply, ToolReply
    from harness.catalog import Effect, ToolRole
    from harness.errors import ErrorCode, bounded
    from harness.grants import usage_of_lost
    from harness.recovery import code_of_effect
    from harness.schedule import NodeStatus
    from harness.trace import TraceKind
    from harness.usage import TryRecord, Usage

from workflows.flight import Flight
from workflows.limited_queues import waiting_for
from workflows.node_outcome import ActivityFailure, total_usage
from workflows.node_state import NodeState
from workflows.run_core import RunCore
from workflows.run_state import RunState

MOST_BYTES_LATER = 1_024
"""Largest arguments whose keys are found out when a run goes on elsewhere, those of all nodes in one workflow task."""


def settle_done(run: RunState, flight: Flight, reply: ToolReply) -> None:
    """Charge every try of a node that has its result, and mark it DONE."""
    state = flight.state
    usage = charge_done(run, flight, reply)
    state.call = flight.call if _may_wait_for_keys(flight) else None
    known = () if state.call else flight.call.keys
    state.other_keys = (*known, reply.key) if reply.key else known
    result = run.written[reply.key] if reply.is_reused else reply.result
    run.results[state.node.id] = result
    run.note_written(flight.tool, state)
    if isinstance(reply, AgentReply):
        run.note_agent_writes(state, reply.written)
    if reply.is_reused:
        reuse(run, state)
        return
    if reply.guard is not None and (isinstance(reply, AgentReply) or flight.tool.role is ToolRole.FINAL_SYNTHESIS):
        run.ungrounded = tuple(dict.fromkeys((*run.ungrounded, *reply.guard.ungrounded)))
    finish(run, flight, reply, usage)


def _may_wait_for_keys(flight: Flight) -> bool:
    """Return whether the keys of a call need not be known before somebody asks: most runs never do."""
    tool, is_light = flight.tool, flight.call.arguments.most_bytes <= MOST_BYTES_LATER
    return tool.is_reusable and tool.effect is Effect.READ and is_light


def charge_done(run: RunCore, flight: Flight, reply: ToolReply) -> Usage:
    """Charge every try of a call that has its result; return what they used together."""
    state, lost = flight.state, reply.try_number - 1 - len(reply.tries)
    usage = total_usage(reply.tries, reply.usage).plus(usage_of_lost(flight.grant, lost, flight.card))
    tries = reply.try_number - 1 if reply.is_reused else reply.try_number
    calls = reply.tool_calls if isinstance(reply, AgentReply) else tries
    run.budget.settle(flight.grant.reserved, tool_calls=calls, usage=usage)
    _emit_retries(run, flight, reply.tries, before=reply.try_number)
    state.tries += tries
    state.usage = state.usage.plus(usage)
    return usage


def finish(run: RunCore, flight: Flight, reply: ToolReply, usage: Usage) -> None:
    """Mark a node as DONE by what its call has returned."""
    state, result = flight.state, reply.result
    state.latency_ms = reply.latency_ms
    run.move(state, NodeStatus.DONE)
    data: dict[str, JsonValue] = {"tool": flight.tool.name, "tries": state.tries, "queue_ms": reply.queue_ms}
    if usage.model:
        data |= {"model": usage.model, "tokens": usage.total_tokens}
    if isinstance(result, Artifact):
        data |= {"artifact": result.digest, "bytes": result.size}
    run.emit(TraceKind.NODE_FINISH, state.status, node=state, latency_ms=reply.latency_ms, data=data)
    run.note_guard(reply.guard, node=state)


def settle_failed(run: RunCore, flight: Flight, failure: ActivityFailure, stopped: str | None) -> None:
    """Charge every try of a node without a result; mark it FAILED, or CANCELLED when the run has stopped it."""
    state, lost = flight.state, failure.tries_made - len(failure.tries)
    usage = failure.usage.plus(usage_of_lost(flight.grant, lost, flight.card))
    run.budget.settle(flight.grant.reserved, tool_calls=failure.calls_made, usage=usage)
    if failure.is_exact:
        _emit_retries(run, flight, failure.tries, before=failure.tries_made)
    state.tries += failure.tries_made
    state.usage = state.usage.plus(usage)
    last = failure.tries[-1] if failure.tries else None
    state.latency_ms = last.latency_ms if last else None
    queue_ms = last.queue_ms if last else None
    run.note_failure(failure, node=state)
    if stopped is not None and failure.was_cancelled:
        is_uncertain = flight.tool.effect is Effect.WRITE and failure.has_begun
        code = ErrorCode.UNCERTAIN_EFFECT if is_uncertain else None
        awaited = waiting_for(run, flight.tool) if failure.was_waiting else ""
        message = f"{stopped}; the call waited for {awaited}" if awaited else stopped
        fail(run, state, code, message, status=NodeStatus.CANCELLED, queue_ms=queue_ms)
    else:
        code = code_of_effect(flight.tool.effect, failure.code) if failure.has_begun else failure.code
        fail(run, state, code, failure.message, queue_ms=queue_ms)


def fail(
    run: RunCore,
    state: NodeState,
    code: ErrorCode | None,
    message: str,
    *,
    status: NodeStatus = NodeStatus.FAILED,
    queue_ms: int | None = None,
) -> None:
    """Mark a node as ended without a result; `queue_ms` is None when its last try could not tell."""
    run.move(state, status)
    state.error, state.error_code = bounded(message), code
    data: dict[str, JsonValue] = {
        "tool": state.node.tool,
        "tries": state.tries,
        "errorCode": code,
        "queue_ms": queue_ms,
    }
    run.emit(TraceKind.NODE_FAIL, status, node=state, latency_ms=state.latency_ms, message=state.error, data=data)


def skip(run: RunCore, state: NodeState, reason: str) -> None:
    """Mark a node as not run."""
    run.move(state, NodeStatus.SKIPPED)
    state.error, state.error_code, state.latency_ms = reason, None, None
    run.emit(TraceKind.NODE_SKIP, state.status, node=state, message=reason, data={"tool": state.node.tool})


def reuse(run: RunCore, state: NodeState) -> None:
    """Mark a node as DONE by a result that an earlier attempt has paid for."""
    run.move(state, NodeStatus.DONE)
    state.reused = True
    run.emit(TraceKind.NODE_REUSE, state.status, node=state, data={"tool": state.node.tool})


def _emit_retries(run: RunCore, flight: Flight, tries: tuple[TryRecord, ...], *, before: int) -> None:
    """Emit one node.retry for each try before the one of this number, those lost with their worker included."""
    if before == 1:
        return
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
                "queue_ms": record.queue_ms if record else None,
                **({"fallback": True} if record and record.falls_back else {}),
            },
        )
