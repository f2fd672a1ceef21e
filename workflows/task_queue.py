"""Task queues, where runs wait for a worker.

Public: one for each toolkit, so that a run meets workers that have its tools. With one queue for all, a worker without
the toolkit (an older deployment) would take the work and could only fail it.

Private: one for a single run, named `<public queue>/<run id>`. Only the process that started the run serves it, so that
nobody else's model, key or tools work on it, though both use one server. The workflow may wait in the public queue all
the same: what drives a run makes no calls.
"""

_PREFIX = "whippletree."
_PRIVATE = "/"
"""Stands before the run id; no toolkit that can be loaded has it in its name, and no run id of ours has it either."""

_LIMITED = "~"


def limited_queue(base: str, limit: str) -> str:
    """Return the task queue of the calls that share a rate limit, beside the task queue of all other calls."""
    return f"{base}{_LIMITED}{limit}"


def task_queue(toolkit: str) -> str:
    """Return the public task queue of a toolkit, which workers serve for everybody."""
    return f"{_PREFIX}{toolkit}"


def private_task_queue(toolkit: str, run_id: str) -> str:
    """Return the task queue of one run, which its own starter serves."""
    return f"{task_queue(toolkit)}{_PRIVATE}{run_id}"


def is_private(queue: str) -> bool:
    """Return whether a task queue belongs to one run."""
    return _PRIVATE in queue


def toolkit_of(queue: str) -> str:
    """Return the toolkit whose runs wait in a task queue, public or private."""
    name = queue.removeprefix(_PREFIX)
    return name.rpartition(_PRIVATE)[0] if is_private(queue) else name
