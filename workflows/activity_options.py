"""Timeouts and retry policies of every activity, by name."""

from datetime import timedelta
from functools import cache
from typing import TypedDict

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType

with workflow.unsafe.imports_passed_through():
    from harness.catalog import USUAL_BACKOFF, Backoff

HEARTBEAT_TIMEOUT = timedelta(seconds=5)
"""How long a lost worker goes unnoticed, and half of the longest time a cancel needs to arrive."""
GRACE = timedelta(seconds=65)
"""How much later than the activity's own time limit Temporal gives it up, so that the activity can say why.

It may take the artifact store half a minute to give the arguments, and as long to keep the result. A lost or blocked
worker is noticed by its heartbeats, much earlier.
"""
SHORT = timedelta(seconds=10)
"""Time limit of activities that do not wait for anybody."""
STORE_LIMIT = timedelta(seconds=60)
"""Time limit of activities that keep or load the state of a run."""
STORE_TRIES = 8
"""About two minutes of a store that does not answer, before the run gives up."""


NON_RETRYABLE = ("PayloadsTooLarge",)
"""A value over the wire limit; retryable by default, which would pay for it again and again."""


@cache
def retries(tries: int, waits: Backoff = USUAL_BACKOFF) -> RetryPolicy:
    """Return the policy of this many tries, the first included, with these waits between them.

    An activity that fails by itself names its next wait, with jitter; this is the wait after a lost worker.
    """
    return RetryPolicy(
        initial_interval=waits.first,
        maximum_interval=max(waits.limit, waits.first),
        maximum_attempts=tries,
        non_retryable_error_types=NON_RETRYABLE,
    )


def within(timeout: timedelta) -> timedelta:
    """Return the start-to-close timeout of an activity that limits itself to `timeout`."""
    return timeout + GRACE


class CallOptions(TypedDict):
    """What the SDK is told of an activity."""

    start_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy
    task_queue: str | None
    cancellation_type: ActivityCancellationType
    summary: str


def call_options(limit: timedelta, *, tries: int, queue: str | None, summary: str) -> CallOptions:
    """Return the options of a call of the harness itself; a cancel of it waits until it has ended."""
    return {
        "start_to_close_timeout": limit,
        "heartbeat_timeout": HEARTBEAT_TIMEOUT,
        "retry_policy": retries(tries),
        "task_queue": queue,
        "cancellation_type": ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        "summary": summary,
    }
