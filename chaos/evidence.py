"""Evidence: what a run left behind, read out of Temporal into plain facts that checks can judge."""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic import TypeAdapter
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from activities.artifact_folders import Owner
from chaos.ledger import Entry
from chaos.messages import Message
from harness.calls import ToolReply
from harness.run import RunResult
from harness.trace import TraceEvent, TraceKind
from workflows.internal_errors import InternalErrors
from workflows.orchestrator import OrchestratorWorkflow
from workflows.payload_storage import store_of

EVENTS_SHOWN = 12
LOST = "the worker was lost"
"""What the trace says of a try that nobody has heard of again."""
_TRACE = TypeAdapter(list[TraceEvent])


class Outcome(StrEnum):
    """How an activity stands in history."""

    OPEN = "OPEN"
    DONE = "DONE"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    """Its last try was lost."""
    CANCELLED = "CANCELLED"


@dataclass(frozen=True)
class Call:
    """One dispatch of an activity."""

    activity_id: str
    """Node and attempt, for a tool."""
    tool: str
    tries: int
    """Temporal's attempt number of the last try; 0 when none has started, or while it is open."""
    outcome: Outcome
    ended_at: float = 0.0
    """Unix time."""
    is_reused: bool = False
    """True when the activity found that an earlier attempt has made an equal call, and did not make it again."""

    @property
    def attempt(self) -> int:
        """Return the attempt of a tool's activity."""
        return int(self.activity_id.partition("@")[2] or 0)

    @property
    def charged(self) -> int:
        """Return the tries that a run pays for: the one that found a result to reuse is free."""
        return self.tries - self.is_reused

    @property
    def node_id(self) -> str:
        """Return the node of a tool's activity."""
        return self.activity_id.partition("@")[0]


@dataclass(frozen=True)
class RunEvidence:
    """What one run left behind."""

    run_id: str
    result: RunResult | None
    """None when it gave none."""
    calls: tuple[Call, ...] = ()
    """Of all workflow runs of its chain, in the order in which they were scheduled."""
    task_failures: tuple[str, ...] = ()
    """Causes of failed workflow tasks; one that timed out with its worker has not failed."""
    replay_failures: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    """Of a run without a result: why, its pending activities, and its last events."""
    lost: int | None = None
    """Tries that the trace tells as lost with their worker; None when not all of the trace is there."""
    chain: int = 1
    """Workflow runs."""
    accepted: tuple[Message, ...] = ()
    """Messages that the run has answered, each sender's in the order in which it sent them."""
    applied: tuple[tuple[str, int], ...] | None = ()
    """Id and tool calls of each message that the trace tells as applied; None when not all of the trace is there."""


@dataclass(frozen=True)
class RoundEvidence:
    """What one round left behind."""

    calm: RunEvidence
    """The run of the same plan that nothing was done to."""
    runs: tuple[RunEvidence, ...]
    ledger: tuple[Entry, ...]
    """Of all runs, the calm one included."""
    deaths: tuple[str, ...] = ()
    """Processes that ended though nobody killed them."""


async def collect(
    client: Client, run_id: str, result: RunResult | None, why_none: str = "", *, accepted: tuple[Message, ...] = ()
) -> RunEvidence:
    """Read what a run left in Temporal."""
    chain = [history async for history in _chain(client, run_id)]
    events = [event for history in chain for event in history.events]
    trace = await _trace(client, result) if result else None
    return RunEvidence(
        run_id=run_id,
        result=result,
        calls=tuple([call for history in chain for call in await calls_with_reuse(client, history)]),
        task_failures=tuple(_task_failures(events)),
        replay_failures=tuple([failure async for failure in _replay(client, chain)]),
        stuck=() if result else (why_none, *await _pending(client, run_id), *_last(events)),
        lost=None if trace is None else sum(1 for e in trace if e.kind is TraceKind.NODE_RETRY and e.message == LOST),
        chain=len(chain),
        accepted=accepted,
        applied=None if trace is None else _applied(trace),
    )


def calls_of(events: Iterable[HistoryEvent]) -> tuple[Call, ...]:
    """Return the activities of one history; tries are in their started events, which come when they end."""
    scheduled: dict[int, Call] = {}
    tries: dict[int, int] = {}
    for event in events:
        match event.WhichOneof("attributes"):
            case "activity_task_scheduled_event_attributes":
                given = event.activity_task_scheduled_event_attributes
                scheduled[event.event_id] = Call(given.activity_id, given.activity_type.name, 0, Outcome.OPEN)
            case "activity_task_started_event_attributes":
                started = event.activity_task_started_event_attributes
                tries[started.scheduled_event_id] = started.attempt
            case str(name) if name in _OUTCOMES:
                number = getattr(event, name).scheduled_event_id
                call = scheduled[number]
                at = event.event_time.seconds + event.event_time.nanos / 1e9
                scheduled[number] = Call(call.activity_id, call.tool, tries.get(number, 0), _OUTCOMES[name], at)
    return tuple(scheduled.values())


async def calls_with_reuse(client: Client, history: WorkflowHistory) -> tuple[Call, ...]:
    """Return the activities of one history, with those marked that only found a result to reuse."""
    reused: set[str] = set()
    names = {event.event_id: event.activity_task_scheduled_event_attributes.activity_id for event in history.events}
    for event in history.events:
        done = event.activity_task_completed_event_attributes
        name = names.get(done.scheduled_event_id, "")
        if "@" not in name or name.endswith("@0"):  # a first attempt has nothing to reuse
            continue
        (reply,) = await client.data_converter.decode(done.result.payloads, [ToolReply])
        if reply.is_reused:
            reused.add(name)
    return tuple(replace(call, is_reused=call.activity_id in reused) for call in calls_of(history.events))


_OUTCOMES = {
    "activity_task_completed_event_attributes": Outcome.DONE,
    "activity_task_failed_event_attributes": Outcome.FAILED,
    "activity_task_timed_out_event_attributes": Outcome.TIMED_OUT,
    "activity_task_canceled_event_attributes": Outcome.CANCELLED,
}


async def _trace(client: Client, result: RunResult) -> list[TraceEvent] | None:
    """Return the whole trace, whose older events are in the artifact store; None when some of it is lost."""
    store, owner = store_of(client.data_converter), Owner(client.namespace, result.run_id)
    if result.trace_dropped:
        return None
    trace: list[TraceEvent] = []
    for page in result.trace_pages:
        if store is None:
            return None
        trace += _TRACE.validate_json(await store.get(owner, page.artifact.digest))
    return [*trace, *result.trace]


def _applied(trace: list[TraceEvent]) -> tuple[tuple[str, int], ...]:
    extensions = [event.data for event in trace if event.kind is TraceKind.BUDGET_EXTEND]
    return tuple((str(data["message_id"]), int(str(data["tool_calls"]))) for data in extensions)


async def _chain(client: Client, run_id: str) -> AsyncIterator[WorkflowHistory]:
    """Yield the history of each workflow run, from the first one on."""
    described = await client.get_workflow_handle(run_id).describe()
    number: str = described.raw_description.workflow_execution_info.first_run_id or described.run_id
    while number:
        history = await client.get_workflow_handle(run_id, run_id=number).fetch_history()
        yield history
        last = history.events[-1]
        number = last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id


async def _replay(client: Client, chain: list[WorkflowHistory]) -> AsyncIterator[str]:
    replayer = Replayer(
        workflows=[OrchestratorWorkflow],
        data_converter=client.data_converter,
        interceptors=[InternalErrors()],
        workflow_runner=UnsandboxedWorkflowRunner(),
        debug_mode=True,  # no deadlock detection: this process is busy with other rounds
    )
    for number, history in enumerate(chain):
        outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
        if outcome.replay_failure is not None:
            yield f"workflow run {number} of the chain: {outcome.replay_failure}"


def _task_failures(events: Iterable[HistoryEvent]) -> Iterator[str]:
    for event in events:
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            failed = event.workflow_task_failed_event_attributes
            cause = WorkflowTaskFailedCause.Name(failed.cause)
            yield f"event {event.event_id}: {cause}: {failed.failure.message}"


async def _pending(client: Client, run_id: str) -> list[str]:
    described = await client.get_workflow_handle(run_id).describe()
    return [
        f"pending {each.activity_id} ({each.activity_type.name}), try {each.attempt}: {each.last_failure.message}"
        for each in described.raw_description.pending_activities
    ]


def _last(events: list[HistoryEvent]) -> list[str]:
    return [f"event {event.event_id}: {EventType.Name(event.event_type)}" for event in events[-EVENTS_SHOWN:]]
