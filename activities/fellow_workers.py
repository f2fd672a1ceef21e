"""Who else serves the task queue of the current activity, so that all can share its rate limit."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from harness.rate_limits import ALONE, Place

FRESH = timedelta(seconds=90)
"""A worker polls at least each 70 s; the server lists pollers for minutes after they have gone."""
COUNT_EVERY_S = 0.5
NEWCOMER_S = 1.0
"""How long a worker that finds others lets them find it, before it takes a share of their turns."""
COUNT_LIMIT = timedelta(seconds=5)


class Census:
    """Counts the workers of task queues, not more often than needed."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self._places: dict[str, Place] = {}
        self._counts: dict[str, asyncio.Task[None]] = {}
        """The count of each task queue that is under way; whoever comes meanwhile waits for it, too."""
        self._next_at: dict[str, float] = {}
        self._joins_at: dict[str, float] = {}

    async def place(self) -> Place:
        """Return where this process stands among the workers of the current activity's task queue.

        When the server does not tell, it is where it was; this does not return before the server has told once.
        Outside of activities it is alone.
        """
        if not activity.in_activity():
            return ALONE
        queue = activity.info().task_queue
        await self._look(queue)
        while queue not in self._places:
            await asyncio.sleep(self._next_at[queue] - time.monotonic())
            await self._look(queue)
        await asyncio.sleep(self._joins_at.get(queue, 0.0) - time.monotonic())
        return self._places[queue]

    async def _look(self, queue: str) -> None:
        """Wait for the count that is under way, or for a new one when the last is too old."""
        now = time.monotonic()
        if queue not in self._counts and now >= self._next_at.get(queue, now):
            self._next_at[queue] = now + COUNT_EVERY_S
            self._counts[queue] = asyncio.create_task(self._count(queue))
            self._counts[queue].add_done_callback(lambda _: self._counts.pop(queue))
        if queue in self._counts:
            await asyncio.shield(self._counts[queue])  # a call that is cancelled must not end it for the others

    async def _count(self, queue: str) -> None:
        try:
            place = await count(activity.client(), queue)
        except RPCError as error:
            activity.logger.warning("the workers of %s cannot be counted: %s", queue, error)
            return
        if queue not in self._places and place.workers > 1:
            self._joins_at[queue] = time.monotonic() + NEWCOMER_S
        self._places[queue] = place


async def count(client: Client, queue: str) -> Place:
    """Ask the server who polls a task queue for activities."""
    reply = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        ),
        timeout=COUNT_LIMIT,
    )
    polled = {poller.identity: poller.last_access_time.ToDatetime(UTC) for poller in reply.pollers}
    return place_among(client.identity, polled)


def place_among(identity: str, polled: dict[str, datetime]) -> Place:
    """Return the rank of a worker among those that have polled lately, as the server's clock goes."""
    last = max(polled.values(), default=None)
    fresh = {name for name, moment in polled.items() if last is not None and last - moment <= FRESH}
    names = sorted(fresh | {identity})
    return Place(names.index(identity), len(names))
