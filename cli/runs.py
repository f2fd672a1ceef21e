"""Runs as the command line sees them: the workflow's names and types in one place, and its failures as lines."""

import asyncio
import time
from datetime import timedelta
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from cli.exit_codes import ExitCode, Refusal
from cli.plain_text import say
from cli.private_values import restored
from cli.run_failures import cause_of, failure, unreadable
from cli.run_kinds import Result, RunKind, View, kind_of
from cli.step_pages import in_order, steps_of
from cli.trace_pages import events_of, read
from harness.budget import BudgetSnapshot, Extension
from harness.loop import LoopResult, LoopView
from harness.trace import TraceEvent
from harness.trace_log import NO_EVENTS, Trace, TraceSlice

RPC_LIMIT = timedelta(seconds=10)
SENDS = 5
SEND_PAUSE_S = 0.5
PASSING = frozenset(
    {
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.ABORTED,
    }
)
"""Answers of a server that may do the same thing a moment later, or has done it already."""
READS = 5
OUTAGE_LIMIT_S = 60
"""How long a server may be away before waiting for a result ends."""
_NOT_PICKED_UP_EVENTS = 2
"""History of a run that no worker has seen: it was started, and its first task was scheduled."""


class Run:
    """One run on a server."""

    def __init__(self, client: Client, run_id: str, kind: RunKind | None = None) -> None:
        """Name a run; whether it exists, and of which kind it is unless that is given, shows later."""
        self.id = run_id
        self._client = client
        self._kind = kind
        self._handle: WorkflowHandle[Any, Any] = client.get_workflow_handle(run_id)

    async def describe(self) -> WorkflowExecutionDescription:
        """Return what the server knows of the run; refuse what is no run."""
        try:
            description = await self._handle.describe(rpc_timeout=RPC_LIMIT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise Refusal(f"There is no run {self.id!r} here.") from error
            raise
        self._kind = kind_of(description.workflow_type)
        if self._kind is None:
            raise Refusal(f"{self.id!r} is no run but a workflow of type {description.workflow_type!r}.")
        return description

    async def state(self) -> View:
        """Ask the run how it is; a worker has to answer."""
        kind = await self._known_kind()
        view: View = await self._handle.query("state", result_type=kind.view_type, rpc_timeout=RPC_LIMIT)
        return view.model_copy(update={"steps": in_order(view.steps)}) if isinstance(view, LoopView) else view

    async def trace(self, after: int) -> TraceSlice:
        """Ask the run for some of its events from an index on; a worker has to answer."""
        events: TraceSlice = await self._handle.query("trace", after, result_type=TraceSlice, rpc_timeout=RPC_LIMIT)
        return events

    async def whole_trace(self) -> tuple[TraceEvent, ...]:
        """Return all events so far: those in pages from the store, the others from the run."""
        for _ in range(READS):
            view = await self.state()
            events = await events_of(self._client, self.id, view.trace_pages)
            while (part := await self.trace(len(events))).events and part.first == len(events):
                events += tuple(part.events)
            if part.first == len(events):
                return events
            # They have gone into a page in between.
        raise Refusal(f"Run {self.id} goes on too fast to be read: try again, or wait for its end.", ExitCode.FAILED)

    async def paged_events(self, start: int, end: int) -> tuple[TraceEvent, ...]:
        """Return the events from one index up to another, which have gone into pages."""
        view = await self.state()
        return (await events_of(self._client, self.id, view.trace_pages))[start:end]

    async def readable(self, result: Result) -> Result:
        """Return a result whose report has private values in place of their placeholders."""
        if isinstance(result, LoopResult):
            return await restored(self._client, self.id, result)
        return await restored(self._client, self.id, result)

    async def _whole(self, result: Result) -> Result:
        """Return a result with what is in its pages, or without what is not to be had, and its calls in order."""
        try:
            read(self.id, result.trace)
        except Refusal as refusal:
            say(refusal.message)
            result = result.model_copy(update={"trace": NO_EVENTS})
        try:
            events = await events_of(self._client, self.id, result.trace_pages)
            if events:
                trace = Trace((*events, *result.trace))
                result = result.model_copy(update={"trace": trace, "trace_pages": ()})
            if isinstance(result, LoopResult):
                steps = await steps_of(self._client, self.id, result.step_pages)
                result = result.model_copy(update={"steps": steps + result.steps, "step_pages": ()})
        except Refusal as refusal:
            say(refusal.message)
        return result.model_copy(update={"steps": in_order(result.steps)}) if isinstance(result, LoopResult) else result

    async def extend(self, more: Extension) -> BudgetSnapshot:
        """Raise the limits of the run."""
        try:
            return await self._send(more)
        except WorkflowUpdateFailedError as error:
            raise Refusal(f"Run {self.id} was not extended: {cause_of(error)}") from error

    async def _send(self, more: Extension) -> BudgetSnapshot:
        """Send an extension, again when that may help: the run applies an id once, however often it comes."""
        for send in range(SENDS):
            try:
                snapshot: BudgetSnapshot = await self._handle.execute_update(
                    "extend", more, id=more.message_id, result_type=BudgetSnapshot, rpc_timeout=RPC_LIMIT
                )
            except WorkflowUpdateRPCTimeoutOrCancelledError as error:
                raise self._unknown_whether_extended("no worker has answered") from error
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    # Also the moment between two workflow runs of a chain.
                    if not is_running(await self.describe()):
                        raise Refusal(f"Run {self.id} has ended and was not extended.") from error
                elif error.status not in PASSING:
                    raise
                if send == SENDS - 1:
                    raise self._unknown_whether_extended(str(error)) from error
                await asyncio.sleep(SEND_PAUSE_S)
            else:
                return snapshot
        raise AssertionError

    def _unknown_whether_extended(self, why: str) -> Refusal:
        return Refusal(
            f"It is not known whether run {self.id} was extended ({why}). Its limits tell, before you try again: "
            f"python starter.py show {self.id}",
            ExitCode.FAILED,
        )

    async def cancel(self) -> None:
        """Ask the run to end."""
        await self._handle.cancel(rpc_timeout=RPC_LIMIT)

    async def terminate(self, reason: str) -> None:
        """End a run in which nothing has happened yet."""
        await self._handle.terminate(reason=reason, rpc_timeout=RPC_LIMIT)

    async def is_picked_up(self) -> bool:
        """Return whether any worker has seen the run."""
        description = await self.describe()
        return description.history_length > _NOT_PICKED_UP_EVENTS

    async def result(self) -> Result:
        """Wait for the end of the run, also across a restart of the server; return its result with the whole trace."""
        away_since: float | None = None
        while True:
            asked = time.monotonic()
            try:
                return await self._whole(await self._returned())
            except WorkflowFailureError as error:
                raise failure(self.id, error) from error
            except ApplicationError as error:  # of this process: it could not read what the run has returned
                status = await memo_text(await self.describe(), "status")
                raise unreadable(self.id, status, error) from error
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    raise Refusal(f"There is no run {self.id!r} here.") from error
                now = time.monotonic()
                away_since = asked if away_since is None or now - asked > OUTAGE_LIMIT_S else away_since
                if now - away_since > OUTAGE_LIMIT_S:
                    raise Refusal(
                        f"The Temporal server has not answered for {OUTAGE_LIMIT_S} s ({error}). When it is back: "
                        f"python starter.py watch {self.id}",
                        ExitCode.FAILED,
                    ) from error
            await asyncio.sleep(1)

    async def _returned(self) -> Result:
        kind = await self._known_kind()
        handle = self._client.get_workflow_handle(self.id, result_type=kind.result_type)
        result: Result = await handle.result()
        return result

    async def _known_kind(self) -> RunKind:
        if self._kind is None:
            await self.describe()
        if self._kind is None:
            raise AssertionError
        return self._kind


def is_running(description: WorkflowExecutionDescription) -> bool:
    """Return whether a run goes on."""
    return description.status is WorkflowExecutionStatus.RUNNING


def queue_of(description: WorkflowExecutionDescription) -> str:
    """Return the task queue of a run, where somebody can answer for it."""
    return description.task_queue or ""


async def work_queue_of(description: WorkflowExecutionDescription) -> str:
    """Return the task queue in which the calls of a run are made."""
    return await memo_text(description, "activity_queue") or queue_of(description)


async def memo_text(description: WorkflowExecutionDescription, key: str) -> str:
    """Return what the starter wrote into the memo of a run."""
    text = (await description.memo()).get(key)
    return text if isinstance(text, str) else ""
