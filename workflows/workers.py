"""The workers of Temporal that a process runs, and their settings."""

from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Plugin, UnsandboxedWorkflowRunner, Worker, WorkflowRunner

from activities.served import Activities
from activities.try_ledger import HEARTBEAT_INTERVAL
from workflows.agent_loop import AgentLoopWorkflow
from workflows.internal_errors import InternalErrors
from workflows.orchestrator import OrchestratorWorkflow
from workflows.sdk_shortcuts import take_shortcuts

GRACEFUL_STOP = timedelta(seconds=65)
"""How long a stopping worker lets activities end: a model call takes 60 s unless the run says otherwise."""
STICKY_TIMEOUT = timedelta(seconds=1)
"""How long a workflow task waits for a lost worker's cache before another worker takes it; 10 s by default."""
EAGER_CALLS = 3
"""Calls that a workflow task starts in its own worker at once, past the task queue; the SDK's default.

More of them spare the server a third of its work, but keep the calls of one plan from other workers.
"""
EAGER_CALLS_EMBEDDED = 50
"""The same with the embedded server, whose workers are all on one machine: as many as a run has in flight."""
WORKFLOWS: Sequence[type] = (OrchestratorWorkflow, AgentLoopWorkflow)
"""Both ways to work; every worker drives both."""
RUNNER = UnsandboxedWorkflowRunner()
"""Workflow code runs as it is: the SDK's sandbox costs a third of a worker's CPU. Tests run it inside the sandbox."""


def build_worker(
    client: Client,
    activities: Activities,
    *,
    task_queue: str,
    max_cached_workflows: int = 1000,
    graceful_stop: timedelta = GRACEFUL_STOP,
    plugins: Sequence[Plugin] = (),
    workflow_runner: WorkflowRunner = RUNNER,
    eager_calls: int = EAGER_CALLS,
) -> Worker:
    """Put a worker together; nothing runs yet. A cache of 0 replays each workflow at every task, for tests."""
    take_shortcuts()
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=activities.functions,
        interceptors=[InternalErrors()],
        workflow_runner=workflow_runner,
        graceful_shutdown_timeout=graceful_stop,
        max_heartbeat_throttle_interval=HEARTBEAT_INTERVAL,
        max_cached_workflows=max_cached_workflows,
        plugins=plugins,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        max_eager_activity_reservations_per_workflow_task=eager_calls,
    )


def build_driver(client: Client, *, task_queue: str, plugins: Sequence[Plugin] = ()) -> Worker:
    """Put a worker together that only drives runs, and answers for those that have ended; it makes no call."""
    take_shortcuts()
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        interceptors=[InternalErrors()],
        workflow_runner=RUNNER,
        plugins=plugins,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
    )
