"""Task queues, where runs wait for a worker: one for each toolkit, so that a run meets workers that have its tools.

With one queue for all, a worker without the toolkit (an older deployment, another user of the embedded server) would
take the work and could only fail it.
"""

_PREFIX = "whippletree."


def task_queue(toolkit: str) -> str:
    """Return the task queue of runs with this toolkit."""
    return f"{_PREFIX}{toolkit}"


def toolkit_of(queue: str) -> str:
    """Return the toolkit whose runs wait in a task queue."""
    return queue.removeprefix(_PREFIX)
