"""The gate that calls pass in a worker process: one at a time by their rate limit, none before a provider wants any.

The server hands out no more calls a second than a limit allows, but after a pause it hands out those of a second at
once. So each process waits for its turn, too.
"""

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable

from temporalio import activity

from activities.fellow_workers import Census
from activities.model.request import ModelError
from harness.catalog import RateLimit, ToolSpec
from harness.errors import ErrorCode, ToolError
from harness.rate_limits import Place, next_turn

LONGEST_WAIT_S = 30.0
"""Longest wait at the gate: whoever has to wait longer comes back later, and leaves its place to others meanwhile."""


class RateGate:
    """Lets calls through in time. One for all limits of a worker process."""

    def __init__(
        self, *, place: Callable[[], Awaitable[Place]] | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """Create an open gate; `place` tells where this process stands among those that serve the current queue."""
        self._place = place or Census().place
        self._clock = clock
        self._paused: dict[str, float] = {}
        """When the pause of a key ends."""
        self._told: defaultdict[str, set[str]] = defaultdict(set)
        """Calls that were told to wait themselves, by key: the server holds their next tries back already."""
        self._last: dict[str, float] = {}
        """When the last call of a limit started, or is to start."""
        self._waiting: Counter[str] = Counter()
        """Calls at the gate by the task queue that they came from."""
        self._passed = asyncio.Event()

    def is_open(self, key: str, limit: RateLimit | None) -> bool:
        """Return whether a call need not wait: it has no limit, and nobody asked for a pause."""
        return limit is None and key not in self._paused

    def pause(self, key: str, error: ToolError, *, most_s: float = LONGEST_WAIT_S) -> None:
        """Hold the calls of a key back for as long as a failed one was told to wait, at most so many seconds."""
        wait_s = error.retry_after_s
        if error.code is not ErrorCode.RATE_LIMITED or wait_s is None or not wait_s > 0:
            return
        until = self._clock() + min(wait_s, most_s)
        self._paused[key] = max(until, self._paused.get(key, until))
        self._told[key].add(_call())

    def end_pause(self, key: str) -> None:
        """Note a success: when it is of a call that was told to wait, the pause is over for all."""
        if key in self._paused and _call() in self._told[key] - {""}:
            del self._paused[key], self._told[key]

    async def enter(self, key: str, limit: RateLimit | None, *, most_s: float) -> float:
        """Wait until a call may start, and return how many seconds that took.

        Raises:
            ToolError: RATE_LIMITED when it would have to wait longer than it can; its turn is left to others.
        """
        queue, came_at = activity.info().task_queue if activity.in_activity() else "", self._clock()
        self._waiting[queue] += 1
        try:
            await self._wait(key, limit, came_at, min(most_s, LONGEST_WAIT_S))
        finally:
            self._waiting[queue] -= 1
            self._passed.set()
        return self._clock() - came_at

    async def enter_tool(self, tool: ToolSpec) -> float:
        """Wait until a tool may be called, and return how many seconds that took; raises as `enter` does."""
        return await self.enter(_key(tool), tool.rate_limit, most_s=tool.timeout.total_seconds())

    def end_pause_of_tool(self, tool: ToolSpec) -> None:
        """Note a success of a tool, as `end_pause` does."""
        self.end_pause(_key(tool))

    def heed_tool(self, tool: ToolSpec, error: ToolError) -> None:
        """Hold the calls of a tool, and of those that share its limit, back if it was told to wait."""
        if not isinstance(error, ModelError):  # which a model server has been told, not the tool
            self.pause(_key(tool), error, most_s=tool.backoff.limit.total_seconds())

    async def has_room(self, queue: str) -> None:
        """Wait until no call of a task queue is at the gate: another process may take the next one sooner."""
        while self._waiting[queue]:
            self._passed.clear()
            await self._passed.wait()

    async def _wait(self, key: str, limit: RateLimit | None, came_at: float, most_s: float) -> None:
        while True:  # ends: each wait ends in time, or raises at once
            while (until := self._pause_end(key)) > self._clock():
                await self._sleep(until, came_at + most_s, key)
            if limit is None:
                return
            # Everybody has to wait for a turn, however little time a call takes.
            gives_up_at = came_at + LONGEST_WAIT_S
            await self._sleep(await self._take_turn(limit, gives_up_at), gives_up_at, limit.name)
            if self._pause_end(key) <= self._clock():  # else one was asked for while this call waited for its turn
                return

    async def _take_turn(self, limit: RateLimit, gives_up_at: float) -> float:
        place = await self._find_place(limit, gives_up_at)
        turn = next_turn(self._clock(), self._last.get(limit.name, -math.inf), limit.per_second, place)
        if turn <= gives_up_at:
            self._last[limit.name] = turn
        return turn

    async def _find_place(self, limit: RateLimit, gives_up_at: float) -> Place:
        try:
            async with asyncio.timeout(gives_up_at - self._clock()):
                return await self._place()
        except TimeoutError as exc:
            message = f"{limit.name}: the server does not tell who else keeps this rate limit"
            raise ToolError(ErrorCode.RATE_LIMITED, message) from exc

    def _pause_end(self, key: str) -> float:
        until = self._paused.get(key, -math.inf)
        if until <= self._clock():
            self._paused.pop(key, None)
            self._told.pop(key, None)
            return until
        return -math.inf if _call() in self._told[key] - {""} else until

    async def _sleep(self, until: float, gives_up_at: float, name: str) -> None:
        if until > gives_up_at:
            wait_s = until - self._clock()
            message = f"{name}: the rate limit lets the next call through in {wait_s:.1f} s, too late for this one"
            raise ToolError(ErrorCode.RATE_LIMITED, message, retry_after_s=wait_s)
        await asyncio.sleep(until - self._clock())


def _call() -> str:
    """Return what names the current activity in all its tries; empty outside of one."""
    if not activity.in_activity():
        return ""
    info = activity.info()
    return f"{info.workflow_run_id}/{info.activity_id}"


def _key(tool: ToolSpec) -> str:
    return tool.rate_limit.name if tool.rate_limit else tool.name
