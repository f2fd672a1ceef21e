"""The ledger of one node's tries, kept in heartbeat details so that it survives into the next try.

Temporal adds no history event for a server-side retry, so the try that ends the node returns all of them.
"""

import asyncio
import random
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from weakref import WeakKeyDictionary

from temporalio import activity

from activities.beats import Beats
from harness.errors import ErrorCode, bounded
from harness.usage import TryRecord, Usage

HEARTBEAT_INTERVAL = timedelta(seconds=1)
"""A cancel reaches the activity with the next heartbeat. Workers must not throttle heartbeats to fewer than this."""
LEAST_INTERVAL_S = 0.2
"""Between two heartbeats that a tool asks for."""
MAX_MESSAGE_CHARS = 200
_INTERVAL_S = HEARTBEAT_INTERVAL.total_seconds()
_BEATS: WeakKeyDictionary[asyncio.AbstractEventLoop, Beats] = WeakKeyDictionary()


@dataclass
class TryLedger:
    """The tries of the current activity so far."""

    try_number: int
    """Temporal's activity attempt, from 1."""
    earlier: tuple[TryRecord, ...]
    queue_ms: int
    """From scheduling of this try to its start on this worker."""
    jitter: float = field(default_factory=random.random)
    """Where in the back-off's spread the next wait falls, 0..1."""
    _began_at: float = field(default_factory=time.time)
    _clock: float = field(default_factory=time.monotonic)
    has_begun: bool = True
    """False as long as the current try has not called what it is to call."""
    message: str = ""
    """How far the try has come, as its tool says."""
    _told_at: float = 0.0
    _is_over: bool = False
    _current: TryRecord | None = None

    @classmethod
    def resume(cls) -> "TryLedger":
        """Read the ledger of earlier tries from the heartbeat details of the current activity."""
        info = activity.info()
        raw = info.heartbeat_details[0] if info.heartbeat_details else ()
        queued = info.started_time - info.current_attempt_scheduled_time
        return cls(
            try_number=info.attempt,
            earlier=tuple(map(TryRecord.model_validate, raw)),
            queue_ms=max(0, round(queued.total_seconds() * 1000)),
        )

    @property
    def tries(self) -> tuple[TryRecord, ...]:
        """Return every recorded try, the current one included once it was recorded."""
        return (*self.earlier, self._current) if self._current else self.earlier

    @property
    def latency_ms(self) -> int:
        """Return how long the current try has run."""
        return round((time.monotonic() - self._clock) * 1000)

    @property
    def on_fallback(self) -> bool:
        """Return whether this try asks the fallback model, because the provider of another one failed before."""
        return any(record.falls_back for record in self.earlier)

    def note_wait(self, seconds: float) -> None:
        """Count a wait for a rate limit as queueing, not as work."""
        self.queue_ms += round(seconds * 1000)
        self._clock += seconds

    def record(self, code: ErrorCode, message: str, usage: Usage, *, falls_back: bool = False) -> None:
        """Record that the current try failed, and heartbeat it so that the next try knows."""
        self._current = TryRecord(
            number=self.try_number,
            code=code,
            message=message.encode("utf-8", errors="replace").decode("utf-8"),
            usage=usage,
            started_at=datetime.fromtimestamp(self._began_at, UTC),
            latency_ms=self.latency_ms,
            queue_ms=self.queue_ms,
            falls_back=falls_back,
        )
        self.heartbeat()

    def heartbeat(self) -> None:
        """Tell Temporal that this try is alive, without losing the record of the earlier ones."""
        said = (self.message,) if self.message else ()
        activity.heartbeat([record.model_dump(mode="json") for record in self.tries], *said)

    def say(self, message: str | None) -> None:
        """Heartbeat how far the try has come; in a quick succession only the last message counts."""
        if message is not None:
            self.message = bounded(message, MAX_MESSAGE_CHARS).encode("utf-8", errors="replace").decode("utf-8")
        now = time.monotonic()
        if not self._is_over and now - self._told_at >= LEAST_INTERVAL_S:
            self._told_at = now
            self.heartbeat()

    def end(self) -> None:
        """Take no more messages: a thread that was given up may still send some."""
        self._is_over = True

    def beating(self) -> AbstractAsyncContextManager[None]:
        """Heartbeat while the body runs on the event loop: cancellation and crash detection travel on it."""
        return _Beating(self)


class _Beating:
    """Beats while a call runs."""

    def __init__(self, ledger: TryLedger) -> None:
        self._ledger = ledger
        loop = asyncio.get_running_loop()
        self._beats = _BEATS.get(loop) or _BEATS.setdefault(loop, Beats(_INTERVAL_S))

    async def __aenter__(self) -> None:
        """Begin the body, which may be late: the call has not waited for anything before."""
        if self._ledger.latency_ms >= _INTERVAL_S * 1000:
            self._ledger.heartbeat()
        self._beat = self._beats.start(self._ledger.heartbeat)

    async def __aexit__(self, *_: object) -> None:
        self._beats.stop(self._beat)
        self._ledger.end()
