"""Whether a worker is there: who polls the task queue."""

import asyncio
import shlex
import time
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from cli.exit_codes import Refusal
from cli.plain_text import say
from harness.toolkit_names import server_parts
from workflows.task_queue import is_private, toolkit_of

POLL_S = 0.5
FRESH = timedelta(seconds=90)
"""A worker polls at least each 70 s; the server lists pollers for minutes after they have gone."""


async def require_worker(client: Client, queue: str, wait_s: float, *, why: str = "and nothing was started") -> None:
    """Wait for a worker to poll the task queue; refuse if none comes."""
    if await has_polled(client, queue, datetime.now(UTC) - FRESH):
        return
    say(f"No worker with the toolkit {toolkit_of(queue)!r} is there yet; waiting up to {wait_s:g} s for one.")
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline:
        await asyncio.sleep(min(POLL_S, wait_s))
        if await has_polled(client, queue, datetime.now(UTC) - FRESH):
            return
    raise no_worker(client, queue, why)


async def has_polled(client: Client, queue: str, since: datetime, *, host: str = "") -> bool:
    """Return whether a worker of the task queue, on that host if one is named, has polled since a moment."""
    reply = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        ),
        timeout=timedelta(seconds=10),
    )
    return any(
        poller.last_access_time.ToDatetime(UTC) >= since and poller.identity.endswith(f"@{host}" if host else "")
        for poller in reply.pollers
    )


class NoWorkerError(Refusal):
    """Nobody is there to do the work."""


def no_worker(client: Client, queue: str, why: str = "and nothing was started") -> NoWorkerError:
    """Return the refusal that names the command to start a worker with."""
    toolkit = toolkit_of(queue)
    where = f"{client.service_client.config.target_host} (namespace {client.namespace})"
    return NoWorkerError(f"No worker with the toolkit {toolkit!r} polls {where}, {why}: {how_to_serve(queue)}.")


def how_to_serve(queue: str) -> str:
    """Return what to do so that somebody serves a task queue."""
    if is_private(queue):
        return f"its starter has gone, and `python starter.py watch {queue.rpartition('/')[2]}` takes its place"
    servers = " --mcp FILE" if server_parts(toolkit_of(queue)) else ""
    return f"start one with `python worker.py{servers} --toolkit {shlex.quote(toolkit_of(queue))}`"
