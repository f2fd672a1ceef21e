"""The traces that recent runs have left, as far as they can be read."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from cli.exit_codes import Refusal
from cli.run_failures import failure, unreadable
from cli.run_kinds import KINDS, Result, kind_of
from cli.runs import RPC_LIMIT
from cli.trace_pages import events_of
from harness.toolkit_names import parts_of
from harness.trace import TraceEvent

READ_AT_ONCE = 8


@dataclass(frozen=True)
class RecentRuns:
    """Which runs are looked at."""

    last: int
    """Most runs, the newest first."""
    since: timedelta | None = None
    """How long ago they may have ended; None for any time."""
    toolkit: str = ""
    """Only runs that had these toolkits, maybe with others; empty for all."""


@dataclass(frozen=True)
class UnreadRun:
    """A run whose trace, or part of it, cannot be read."""

    run_id: str
    reason: str


@dataclass
class Traces:
    """What recent runs have left."""

    events: list[tuple[TraceEvent, ...]] = field(default_factory=list)
    """By run."""
    unread: list[UnreadRun] = field(default_factory=list)
    running: int = 0
    """Runs under way, whose traces are left out."""


async def read_traces(client: Client, runs: RecentRuns) -> Traces:
    """Read the traces of runs that have ended; no worker is needed."""
    traces, ended = Traces(), list[WorkflowExecution]()
    # Runs under way come first, then the others from the last that has ended on.
    async for execution in _listed(client, runs):
        if execution.status is WorkflowExecutionStatus.RUNNING:
            traces.running += 1
        elif len(ended) < runs.last:
            ended.append(execution)
        else:
            break
    room = asyncio.Semaphore(READ_AT_ONCE)
    for trace in await asyncio.gather(*(_trace_of(client, execution, room) for execution in ended)):
        if isinstance(trace, UnreadRun):
            traces.unread.append(trace)
        else:
            traces.events.append(trace)
    return traces


async def _listed(client: Client, runs: RecentRuns) -> AsyncIterator[WorkflowExecution]:
    # Of a chain of workflow runs only the last one has a result.
    types = ", ".join(f"'{kind.workflow_type}'" for kind in KINDS.values())
    query = f"WorkflowType IN ({types}) AND ExecutionStatus != 'ContinuedAsNew'"
    if runs.since is not None:
        earliest = (datetime.now(UTC) - runs.since).isoformat(timespec="seconds")
        query += f" AND (ExecutionStatus = 'Running' OR CloseTime >= '{earliest}')"
    wanted = set(parts_of(runs.toolkit)) if runs.toolkit else set()
    async for execution in client.list_workflows(query, rpc_timeout=RPC_LIMIT):
        toolkit = (await execution.memo()).get("toolkit") if wanted else None
        if not wanted or (isinstance(toolkit, str) and wanted <= set(parts_of(toolkit))):
            yield execution


async def _trace_of(
    client: Client, execution: WorkflowExecution, room: asyncio.Semaphore
) -> tuple[TraceEvent, ...] | UnreadRun:
    run_id, kind = execution.id, kind_of(execution.workflow_type)
    handle: WorkflowHandle[object, Result] = client.get_workflow_handle(
        run_id, run_id=execution.run_id, result_type=None if kind is None else kind.result_type
    )
    try:
        async with room:
            result = await handle.result(follow_runs=False, rpc_timeout=RPC_LIMIT)
            return (*await events_of(client, run_id, result.trace_pages), *result.trace)
    except WorkflowFailureError as error:
        return UnreadRun(run_id, failure(run_id, error).message)
    except ApplicationError as error:
        return UnreadRun(run_id, unreadable(run_id, "", error).message)
    except ValidationError as error:
        return UnreadRun(run_id, f"Its result is of another version: {error.error_count()} fields do not fit.")
    except Refusal as refusal:
        return UnreadRun(run_id, refusal.message)
