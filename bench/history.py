"""What a run has left in history, over its whole chain of workflow runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle, WorkflowHistoryEventFilterType

LIMIT_S = 120


@dataclass(frozen=True)
class HistorySize:
    """Sizes of a run's history."""

    events: int
    bytes: int
    external_bytes: int
    """Bytes that are kept outside history by the SDK's external storage."""
    runs: int
    """Workflow runs of the chain."""
    largest_run_events: int
    largest_run_bytes: int


Part = dict[str, int]
"""Number of `events` and `bytes`."""


async def history_size(client: Client, workflow_id: str) -> HistorySize:
    """Measure the history of a run that has ended."""
    async with asyncio.timeout(LIMIT_S):
        infos = []
        for handle in await _chain(client, workflow_id):
            infos.append((await handle.describe()).raw_description.workflow_execution_info)  # noqa: PERF401 - awaits
    return HistorySize(
        events=sum(info.history_length for info in infos),
        bytes=sum(info.history_size_bytes for info in infos),
        external_bytes=sum(info.external_payload_size_bytes for info in infos),
        runs=len(infos),
        largest_run_events=max(info.history_length for info in infos),
        largest_run_bytes=max(info.history_size_bytes for info in infos),
    )


def middle_of(sizes: Sequence[HistorySize]) -> HistorySize:
    """Return the size of the run in the middle by events, of two the smaller, with the longest workflow run of all.

    How many workflow tasks a run takes depends on timing, so one run tells little.
    """
    middle = sorted(sizes, key=lambda size: size.events)[(len(sizes) - 1) // 2]
    return replace(
        middle,
        largest_run_events=max(size.largest_run_events for size in sizes),
        largest_run_bytes=max(size.largest_run_bytes for size in sizes),
    )


async def history_parts(client: Client, workflow_id: str) -> dict[str, Part]:
    """Tell what the history of a run that has ended consists of, by activity type or event type."""
    parts: dict[str, Part] = {}
    async with asyncio.timeout(LIMIT_S):
        for handle in await _chain(client, workflow_id):
            types: dict[int, str] = {}
            async for event in handle.fetch_history_events():
                part = parts.setdefault(_part_of(event, types), {"events": 0, "bytes": 0})
                part["events"] += 1
                part["bytes"] += event.ByteSize()
    return parts


async def execution_s(client: Client, workflow_id: str, first: str, last: str) -> float:
    """Return the time from scheduling the first call of a type to the end of the last call of another type."""
    begins, ends = [], []
    async with asyncio.timeout(LIMIT_S):
        for handle in await _chain(client, workflow_id):
            types: dict[int, str] = {}
            async for event in handle.fetch_history_events():
                part = _part_of(event, types)
                if part == first and event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
                    begins.append(event.event_time.ToDatetime())
                elif part == last and event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                    ends.append(event.event_time.ToDatetime())
    return (max(ends) - min(begins)).total_seconds()


async def _chain(client: Client, workflow_id: str) -> list[WorkflowHandle[object, object]]:
    """Return a handle for each workflow run of a run, first to last."""
    description = await client.get_workflow_handle(workflow_id).describe()
    run_id: str = description.raw_description.workflow_execution_info.first_run_id
    chain: list[WorkflowHandle[object, object]] = []
    while run_id:
        handle: WorkflowHandle[object, object] = client.get_workflow_handle(workflow_id, run_id=run_id)
        chain.append(handle)
        run_id = ""
        closing = handle.fetch_history_events(event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT)
        async for event in closing:
            run_id = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return chain


def _part_of(event: HistoryEvent, types: dict[int, str]) -> str:
    """Return the activity type of an activity's event, of another one its own type."""
    match event.event_type:
        case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            types[event.event_id] = event.activity_task_scheduled_event_attributes.activity_type.name
            return types[event.event_id]
        case EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            return types[event.activity_task_started_event_attributes.scheduled_event_id]
        case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
            return types[event.activity_task_completed_event_attributes.scheduled_event_id]
    name = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
    return "WORKFLOW_TASK" if name.startswith("WORKFLOW_TASK") else name
