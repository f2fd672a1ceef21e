"""The wall clock of a run: it notices when the time is over, and bounds every wait for an activity by it."""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

from workflows.run_state import RunState


class Clock:
    """Watches the wall-clock limit of one workflow run of the chain."""

    def __init__(self, state: RunState) -> None:
        """Start watching."""
        self._state = state
        self._open: list[ActivityHandle[Any]] = []
        self._watch = asyncio.create_task(self._watch_limit())
        self.is_over = state.time_left <= timedelta(0)
        """True from the moment when the limit has passed; it stays true."""

    async def wait_for(self, handle: "ActivityHandle[Any]", *, may_overrun: bool = False) -> None:
        """Wait until an activity has ended; cancel it when the time is over, unless it may overrun."""
        self._open.append(handle)
        await workflow.wait_condition(lambda: handle.done() or (self.is_over and not may_overrun))
        if not handle.done():
            handle.cancel()
            await workflow.wait_condition(handle.done)
        self._open.remove(handle)

    async def sleep(self, wait: timedelta, *, summary: str) -> None:
        """Wait on a durable timer, but not beyond the limit."""
        timer = asyncio.create_task(workflow.sleep(wait, summary=summary))
        try:
            await workflow.wait_condition(lambda: timer.done() or self.is_over)
        finally:
            timer.cancel()

    async def cancel_open(self) -> None:
        """Cancel the activities that are waited for, and wait until they have ended."""
        for handle in self._open:
            handle.cancel()
        await workflow.wait_condition(lambda: all(handle.done() for handle in self._open))

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
