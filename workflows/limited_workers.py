"""Workers for the calls with a rate limit, one for each limit beside the worker of a task queue."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Plugin, Worker

from activities.gated_slots import gated_tuner
from activities.served import Activities
from activities.try_ledger import HEARTBEAT_INTERVAL
from workflows.internal_errors import InternalErrors
from workflows.task_queue import limited_queue

CALLS_A_POLL = 20
"""Calls a second that one poll after the other brings."""
MOST_POLLS = 5


@asynccontextmanager
async def limited_workers(
    client: Client,
    activities: Activities,
    task_queue: str,
    *,
    graceful_stop: timedelta,
    plugins: Sequence[Plugin] = (),
) -> AsyncIterator[None]:
    """Make the calls with a rate limit of the runs in a task queue, until the body ends."""

    def build(limit: str, per_second: float) -> Worker:
        queue = limited_queue(task_queue, limit)
        return Worker(
            client,
            task_queue=queue,
            activities=activities.functions,
            interceptors=[InternalErrors()],
            graceful_shutdown_timeout=graceful_stop,
            max_heartbeat_throttle_interval=HEARTBEAT_INTERVAL,
            plugins=plugins,
            max_task_queue_activities_per_second=per_second,
            max_concurrent_activity_task_polls=min(MOST_POLLS, 1 + int(per_second / CALLS_A_POLL)),
            tuner=gated_tuner(activities.gate, queue),
        )

    async with AsyncExitStack() as stack:
        for limit, per_second in activities.limits.items():
            await stack.enter_async_context(build(limit, per_second))
        yield
