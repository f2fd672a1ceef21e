"""Beats: something to do again and again while a call runs, for all calls of an event loop by one timer.

Most calls end before the first beat. A timer for each would cost more than anything else that is done around them.
"""

import asyncio
import contextvars
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Beat:
    """One call that beats."""

    due: float
    """Time of the loop's clock."""
    do: Callable[[], None]
    context: contextvars.Context = field(default_factory=contextvars.copy_context)


class Beats:
    """What beats in one event loop, the next one to do so first: the interval is the same for all."""

    def __init__(self, interval_s: float) -> None:
        """Beat at this interval."""
        self._interval_s = interval_s
        self._beats: dict[Beat, None] = {}
        self._is_timed = False
        self._context = contextvars.Context()
        """Of the timer: it must not keep that of the call which happened to start it."""

    def start(self, do: Callable[[], None]) -> Beat:
        """Do something in the current context each time the interval has passed, until it is stopped."""
        beat = Beat(asyncio.get_running_loop().time() + self._interval_s, do)
        self._beats[beat] = None
        if not self._is_timed:
            self._wait_for(beat)
        return beat

    def stop(self, beat: Beat) -> None:
        """Let it beat no more."""
        self._beats.pop(beat, None)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._is_timed = False
        for beat in tuple(self._beats):
            if beat.due > now:
                break
            del self._beats[beat]
            beat.due = now + self._interval_s
            self._beats[beat] = None  # now the last one
            loop.call_soon(self._do, beat, context=beat.context)
        if self._beats:
            self._wait_for(next(iter(self._beats)))

    def _do(self, beat: Beat) -> None:
        if beat in self._beats:
            beat.do()

    def _wait_for(self, beat: Beat) -> None:
        self._is_timed = True
        asyncio.get_running_loop().call_at(beat.due, self._tick, context=self._context)
