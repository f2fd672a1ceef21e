"""What a tool may know about the call it serves, and what it may do beside returning a result."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from activities.model.request import Model
from activities.tool_artifacts import ToolArtifacts
from activities.tool_log import ToolLog


def _unheard(_: str | None) -> None:
    """Take a heartbeat that nobody waits for."""


@dataclass(frozen=True)
class ToolContext:
    """What a tool may know about the call it serves. A tool gets it by a parameter annotated with this class.

    A test may build one by itself; what it leaves out works without Temporal.
    """

    run_id: str
    node_id: str
    try_number: int
    """From 1 within one dispatch of the node; a run that retries the node counts from 1 again."""
    idempotency_key: str
    """Equal for all tries of a node, also after a crash; different for another node or attempt."""
    deadline: datetime
    """When this try is given up."""
    model: Model
    """The run's models, bounded by the tokens that the budget granted to this call, at the price of SYNTHESIS."""
    max_tokens: int
    """Tokens of that grant, prompt and output together."""
    feedback: str = ""
    """Why the last report of this run was rejected; empty for a first report."""
    try_id: str = ""
    """Different for every try of every node."""
    logger: ToolLog = field(default_factory=ToolLog)
    """Adds run, node and try to each record, and hides the worker's secrets."""
    artifacts: ToolArtifacts = field(default_factory=ToolArtifacts.in_memory)
    """Bytes that are kept with the run, by their digest."""
    beat: Callable[[str | None], None] = field(default=_unheard, repr=False)
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set when the call is given up: a plain function may wait for it in place of sleeping."""

    @property
    def is_cancelled(self) -> bool:
        """Return whether the call was cancelled or has run out of time.

        An async tool is stopped by that. A plain function cannot be: one that works long should look here now and then,
        and return.
        """
        return self.cancelled.is_set()

    def heartbeat(self, message: str | None = None) -> None:
        """Say how far the call has come, for people who look at it in the Web UI. May be called from any thread.

        The worker says by itself, every second, that the call is alive.
        """
        self.beat(message)
