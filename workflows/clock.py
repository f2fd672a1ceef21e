"""The wall clock of a run: it notices when the time is over, and bounds every wait for an activity by it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

from workflows.run_core import RunCore


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class _Wait:
    """A wait for activities that have started."""

    handles: "tuple[ActivityHandle[Any], ...]"
    on_stop: Callable[[], None]

    def has_ended(self) -> bool:
        return all(handle.done() for handle in self.handles)

    def cancel(self) -> None:
        for handle in self.handles:
            handle.cancel()


class Clock:
    """Watches the wall-clock limit of one workflow run of the chain."""

    def __init__(self, state: RunCore) -> None:
        """Start watching."""
        self._state = state
        self._open: list[_Wait] = []
        self._watch = asyncio.create_task(self._watch_limit())
        self.is_over = state.time_left <= timedelta(0)
        """True from the moment when the limit has passed; it stays true."""

    async def wait_for(
        self, *handles: "ActivityHandle[Any]", may_overrun: bool = False, on_stop: Callable[[], None] = _nothing
    ) -> None:
        """Wait until activities have ended; cancel them when the time is over, unless they may overrun.

        When the run is stopped meanwhile nobody comes back from here: then `on_stop` is called once they have ended,
        to settle what they have cost.
        """
        wait = _Wait(handles, on_stop)
        self._open.append(wait)
        await workflow.wait_condition(lambda: wait.has_ended() or (self.is_over and not may_overrun))
        if not wait.has_ended():
            wait.cancel()
            await workflow.wait_condition(wait.has_ended)
        self._open.remove(wait)

    async def sleep(self, wait: timedelta, *, summary: str) -> None:
        """Wait on a durable timer, but not beyond the limit."""
        timer = asyncio.create_task(workflow.sleep(wait, summary=summary))
        try:
            await workflow.wait_condition(lambda: timer.done() or self.is_over)
        finally:
            timer.cancel()

    async def cancel_open(self) -> None:
        """Cancel the activities that are waited for, wait until they have ended, and have each settled."""
        for wait in self._open:
            wait.cancel()
        await workflow.wait_condition(lambda: all(wait.has_ended() for wait in self._open))
        while self._open:
            self._open.pop(0).on_stop()

    async def stop(self) -> None:
        """Stop watching, so that no timer is left when the workflow run closes."""
        self._watch.cancel()
        await workflow.wait_condition(self._watch.done)

    async def _watch_limit(self) -> None:
        """Wait for the limit to pass, also when an operator moves it."""
        while (left := self._state.time_left) > timedelta(0):
            limit = self._state.budget.limits.max_wall_clock
            try:
                await workflow.wait_condition(
                    lambda limit=limit: self._state.budget.limits.max_wall_clock != limit,  # type: ignore[misc]
                    timeout=left,
                    timeout_summary="wall-clock limit",
                )
            except TimeoutError:
                continue
        self.is_over = True
