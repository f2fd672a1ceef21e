"""What a run left behind is read out of its histories."""

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.history.v1 import (
    ActivityTaskCompletedEventAttributes,
    ActivityTaskScheduledEventAttributes,
    ActivityTaskStartedEventAttributes,
    ActivityTaskTimedOutEventAttributes,
    HistoryEvent,
)
from temporalio.client import Client, WorkflowHistory

from chaos.evidence import Call, Outcome, calls_of, calls_with_reuse, collect
from harness.calls import ToolReply
from harness.carry import RunInput
from workflows.orchestrator import OrchestratorWorkflow


def scheduled(number: int, activity_id: str) -> HistoryEvent:
    given = ActivityTaskScheduledEventAttributes(activity_id=activity_id)
    given.activity_type.name = "put"
    return HistoryEvent(event_id=number, activity_task_scheduled_event_attributes=given)


def started(number: int, of: int, attempt: int) -> HistoryEvent:
    given = ActivityTaskStartedEventAttributes(scheduled_event_id=of, attempt=attempt)
    return HistoryEvent(event_id=number, activity_task_started_event_attributes=given)


def test_tries_and_outcomes_of_calls_are_read_from_history() -> None:
    done = ActivityTaskCompletedEventAttributes(scheduled_event_id=1)
    lost = ActivityTaskTimedOutEventAttributes(scheduled_event_id=2)
    events = [
        scheduled(1, "a@0"),
        scheduled(2, "b@0"),
        scheduled(3, "c@0"),
        started(4, 2, 1),
        HistoryEvent(event_id=5, activity_task_timed_out_event_attributes=lost, event_time=Timestamp(seconds=8)),
        started(6, 1, 3),
        HistoryEvent(
            event_id=7,
            activity_task_completed_event_attributes=done,
            event_time=Timestamp(seconds=9, nanos=500_000_000),
        ),
    ]

    assert calls_of(events) == (
        Call("a@0", "put", 3, Outcome.DONE, 9.5),
        Call("b@0", "put", 1, Outcome.TIMED_OUT, 8.0),
        Call("c@0", "put", 0, Outcome.OPEN),
    )
    assert calls_of(events)[0].node_id == "a"


@pytest.mark.asyncio(loop_scope="session")
async def test_a_call_that_only_found_a_result_to_reuse_is_known_by_its_reply(client: Client) -> None:
    events = []
    for number, is_reused in ((1, True), (2, False)):
        reply = ToolReply.model_validate({"key": "k"} | ({"is_reused": True} if is_reused else {"value": 1}))
        done = ActivityTaskCompletedEventAttributes(scheduled_event_id=number)
        done.result.payloads.extend(await client.data_converter.encode([reply]))
        events += [
            scheduled(number, f"n{number}@1"),
            started(number + 10, number, 2),
            HistoryEvent(event_id=number + 20, activity_task_completed_event_attributes=done),
        ]

    calls = await calls_with_reuse(client, WorkflowHistory("r", events))

    assert [(call.is_reused, call.tries, call.charged, call.attempt) for call in calls] == [
        (True, 2, 1, 1),
        (False, 2, 2, 1),
    ]


@pytest.mark.asyncio(loop_scope="session")
async def test_a_run_that_hangs_is_shown_with_why_and_its_last_events(client: Client) -> None:
    handle = await client.start_workflow(
        OrchestratorWorkflow.run, RunInput(goal="wait"), id="chaos-hung", task_queue="nobody-serves-this"
    )
    try:
        found = await collect(client, "chaos-hung", None, "not terminal after 1 s")
    finally:
        await handle.terminate()

    assert found.stuck[0] == "not terminal after 1 s"
    assert "EVENT_TYPE_WORKFLOW_TASK_SCHEDULED" in found.stuck[-1]
    assert found.replay_failures == ()
