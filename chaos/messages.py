"""Messages to runs under fire: extensions of the budget, each sent twice, by senders that do not give up at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCError, RPCStatusCode

from harness.budget import Extension
from workflows.orchestrator import OrchestratorWorkflow

SENDERS = ("ann", "bob")
RPC_LIMIT = timedelta(seconds=10)
_PAUSE_S = 0.1
_COUNT = (3, 6)
_LAST_S = 0.6
_MOST_CALLS = 50
_PASSING = frozenset(
    {
        RPCStatusCode.NOT_FOUND,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.CANCELLED,
    }
)
"""What a server says that is away, comes back, or is between two workflow runs of a chain."""


@dataclass(frozen=True)
class Message:
    """One extension of a run."""

    id: str
    sender: str
    after_s: float
    """Since the sender's message before, or since the start of the runs."""
    tool_calls: int


def draw_messages(random: Random) -> tuple[Message, ...]:
    """Draw three to six messages of two senders."""
    return tuple(
        Message(f"m{number}", random.choice(SENDERS), random.uniform(0, _LAST_S), random.randint(1, _MOST_CALLS))
        for number in range(random.randint(*_COUNT))
    )


async def send_all(client: Client, run_id: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Send messages, those of one sender one after the other; return those that the run has answered."""
    senders = [[message for message in messages if message.sender == sender] for sender in SENDERS]
    answered = await asyncio.gather(*(_send_in_order(client, run_id, each) for each in senders))
    return tuple(message for each in answered for message in each)


async def _send_in_order(client: Client, run_id: str, messages: list[Message]) -> list[Message]:
    """Send each message twice: under the id of its update, and under another that only the run can see through."""
    accepted = []
    for message in messages:
        await asyncio.sleep(message.after_s)
        if not await _is_accepted(client, run_id, message, update_id=message.id):
            break
        accepted.append(message)
        await _is_accepted(client, run_id, message, update_id=f"{message.id}-again")
    return accepted


async def _is_accepted(client: Client, run_id: str, message: Message, *, update_id: str) -> bool:
    """Send until the run answers; return False when it has ended or will not take it."""
    handle = client.get_workflow_handle_for(OrchestratorWorkflow.run, run_id)
    more = Extension(message_id=message.id, tool_calls=message.tool_calls)
    while True:
        try:
            await handle.execute_update(OrchestratorWorkflow.extend, more, id=update_id, rpc_timeout=RPC_LIMIT)
        except WorkflowUpdateFailedError:
            return False
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            pass
        except RPCError as error:
            if error.status not in _PASSING:
                raise
            if error.status is RPCStatusCode.NOT_FOUND and not await _is_running(client, run_id):
                return False
        else:
            return True
        await asyncio.sleep(_PAUSE_S)


async def _is_running(client: Client, run_id: str) -> bool:
    try:
        described = await client.get_workflow_handle(run_id).describe(rpc_timeout=RPC_LIMIT)
    except RPCError:
        return True  # nobody knows
    return described.status is WorkflowExecutionStatus.RUNNING
