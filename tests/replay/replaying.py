"""Replay recorded histories, and compare what the Replayer does not look at: inputs, time limits, retries, results.

Usage, in a process of its own: python -m tests.replay.replaying. It prints the differences, one a line.
"""

import asyncio
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHistory
from temporalio.worker import (
    ContinueAsNewInput,
    ExecuteWorkflowInput,
    Interceptor,
    Replayer,
    StartActivityInput,
    StartChildWorkflowInput,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from tests.replay.histories import stored
from workflows.data_converter import DATA_CONVERTER
from workflows.internal_errors import InternalErrors
from workflows.workers import WORKFLOWS

Command = tuple[str, ...]


@dataclass
class Commands:
    """What a workflow run did, in order: as replayed, or as recorded."""

    done: list[Command] = field(default_factory=list)

    @property
    def activities(self) -> int:
        return sum(command[0] == "activity" for command in self.done)


class _Observe(Interceptor):
    """Observes the commands of a workflow under replay."""

    def __init__(self, commands: Commands) -> None:
        self.commands = commands

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        commands = self.commands

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(Outbound(outbound))

            async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
                result = await super().execute_workflow(input)
                commands.done.append(("result", _encoded([result])))
                return result

        class Outbound(WorkflowOutboundInterceptor):
            def start_activity(self, input: StartActivityInput) -> Any:
                commands.done.append(_activity(input, number=1 + commands.activities))
                return super().start_activity(input)

            async def start_child_workflow(self, input: StartChildWorkflowInput) -> Any:
                commands.done.append(("child", input.workflow, input.id, _encoded(input.args)))
                return await super().start_child_workflow(input)

            def continue_as_new(self, input: ContinueAsNewInput) -> Any:
                commands.done.append(("continue_as_new", _encoded(input.args)))
                return super().continue_as_new(input)

        return Inbound


async def differences(name: str, history: WorkflowHistory) -> list[str]:
    """Replay one history; return how the replay differs from it, nothing when it does not."""
    commands = Commands()
    replayer = Replayer(
        workflows=WORKFLOWS,
        data_converter=DATA_CONVERTER,
        interceptors=[_Observe(commands), InternalErrors()],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    if outcome.replay_failure is not None:
        return [f"{name}: {outcome.replay_failure}"]
    recorded = list(_recorded(history))
    pairs = zip(recorded, commands.done, strict=False)
    found = [f"{name}: recorded {then} now {now}" for then, now in pairs if then != now]
    if len(recorded) != len(commands.done):
        found.append(f"{name}: {len(recorded)} commands recorded, {len(commands.done)} now")
    return found


def _recorded(history: WorkflowHistory) -> Iterable[Command]:
    for event in history.events:
        match event.WhichOneof("attributes"):
            case "activity_task_scheduled_event_attributes":
                a = event.activity_task_scheduled_event_attributes
                yield (
                    "activity",
                    a.activity_type.name,
                    a.activity_id,
                    _payloads(a.input.payloads),
                    _seconds(a.start_to_close_timeout),
                    _seconds(a.heartbeat_timeout),
                    str(a.retry_policy.maximum_attempts),
                    _seconds(a.retry_policy.initial_interval),
                    _seconds(a.retry_policy.maximum_interval),
                )
            case "start_child_workflow_execution_initiated_event_attributes":
                child = event.start_child_workflow_execution_initiated_event_attributes
                yield ("child", child.workflow_type.name, child.workflow_id, _payloads(child.input.payloads))
            case "workflow_execution_completed_event_attributes":
                yield ("result", _payloads(event.workflow_execution_completed_event_attributes.result.payloads))
            case "workflow_execution_continued_as_new_event_attributes":
                continued = event.workflow_execution_continued_as_new_event_attributes
                yield ("continue_as_new", _payloads(continued.input.payloads))


def _activity(input: StartActivityInput, *, number: int) -> Command:
    policy = input.retry_policy
    assert policy is not None
    return (
        "activity",
        input.activity,
        input.activity_id or str(number),  # how the SDK names an activity that has no id
        _encoded(input.args),
        str((input.start_to_close_timeout or timedelta(0)).total_seconds()),
        str((input.heartbeat_timeout or timedelta(0)).total_seconds()),
        str(policy.maximum_attempts),
        str(policy.initial_interval.total_seconds()),
        str((policy.maximum_interval or timedelta(0)).total_seconds()),
    )


def _encoded(values: Iterable[Any]) -> str:
    return _payloads(DATA_CONVERTER.payload_converter.to_payloads(list(values)))


def _payloads(payloads: Iterable[Payload]) -> str:
    return " ".join(payload.data.decode() for payload in payloads)


def _seconds(duration: Message) -> str:
    assert isinstance(duration, Duration)
    return str(duration.ToTimedelta().total_seconds())


async def main() -> int:
    """Replay every stored history; return how many differ."""
    found = [line for name, history in stored() for line in await differences(name, history)]
    print("\n".join(found) or "no differences")
    return len(found)


if __name__ == "__main__":
    found = asyncio.run(main())
    sys.stdout.flush()
    os._exit(min(found, 100))  # The SDK's threads may crash an ordinary interpreter shutdown.
