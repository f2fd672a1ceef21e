"""What an agent's workflow says, as the outcome of its node: a reply, or a failure that tells what was used."""

import asyncio
from datetime import timedelta
from decimal import Decimal

from temporalio import workflow
from temporalio.exceptions import ApplicationError, ChildWorkflowError

with workflow.unsafe.imports_passed_through():
    from harness.agent_node import node_error
    from harness.budget import Amount
    from harness.calls import AgentReply, FailureDetails
    from harness.catalog import ModelCard
    from harness.errors import CANCELLED, ErrorCode, bounded
    from harness.guardrail import GuardReport
    from harness.loop import LoopResult, LoopStatus
    from harness.usage import TryRecord, Usage


def reply_of(result: LoopResult, known_writes: tuple[str, ...], took: timedelta) -> AgentReply:
    """Return what an agent has found that was told of these writes, and took so long.

    Raises:
        ApplicationError: when it has found nothing; its details tell what it has used and written all the same.
    """
    usage, calls, latency_ms = _usage(result), result.budget.tool_calls, round(took.total_seconds() * 1000)
    written = tuple(key for key in result.written if key not in known_writes)
    failed = node_error(result)
    guard = GuardReport(ran=result.guardrails, ungrounded=result.ungrounded)
    if failed is None:
        return AgentReply(
            value={"answer": result.report},
            usage=usage,
            guard=guard,
            tool_calls=calls,
            written=written,
            latency_ms=latency_ms,
        )
    code, message = failed
    was_ours = result.status is LoopStatus.CANCELLED and _is_being_cancelled()
    raise _failure(
        CANCELLED if was_ours else code,
        TryRecord(number=1, code=code, message=bounded(message), usage=usage, latency_ms=latency_ms),
        tool_calls=calls,
        has_begun=result.has_written,
        written=written,
        guard=guard,
    )


def failure_of_lost(error: ChildWorkflowError, share: Amount, card: ModelCard) -> ApplicationError:
    """Return the failure of an agent whose workflow has no result: it may have used all of its share."""
    why = bounded(f"the agent's workflow failed: {error.cause or error}")
    is_priced = card.input_token_usd is not None and card.output_token_usd is not None
    cost: Decimal | None = share.cost_usd if is_priced else None
    usage = Usage(model=card.name, input_tokens=share.tokens, cost_usd=cost, estimated=True)
    tried = TryRecord(number=1, code=ErrorCode.INTERNAL, message=why, usage=usage)
    return _failure(ErrorCode.INTERNAL, tried, tool_calls=share.tool_calls)


def _failure(
    kind: str,
    tried: TryRecord,
    *,
    tool_calls: int,
    has_begun: bool = True,
    written: tuple[str, ...] = (),
    guard: GuardReport | None = None,
) -> ApplicationError:
    details = FailureDetails(
        tries=(tried,), try_number=1, tool_calls=tool_calls, has_begun=has_begun, written=written, guard=guard
    )
    return ApplicationError(tried.message, details, type=kind, non_retryable=True)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _usage(result: LoopResult) -> Usage:
    """Return what the agent has used by its own budget, which also knows of what was lost."""
    spent, output = result.budget, min(result.usage.output_tokens, result.budget.tokens)
    return Usage(
        model=result.usage.model,
        input_tokens=spent.tokens - output,
        output_tokens=output,
        cost_usd=spent.cost_usd if spent.cost_known else None,
        estimated=spent.estimated,
    )
