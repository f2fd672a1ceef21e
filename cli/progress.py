"""Progress of a run on stderr: one line for each trace event, or a live picture on a terminal."""

import os
import re
import sys
from abc import ABC, abstractmethod

from cli.error_words import coded
from cli.guard_flags import flags_of
from cli.plain_text import one_line, say
from cli.run_kinds import Result
from cli.runs import Run
from cli.trace_pages import events_after
from harness.trace import TraceEvent, TraceKind

LINE_CHARS = 160
_CALL_ID = re.compile(r"[0-9]+\.[0-9]+")
"""Names a call of an agent loop by its step and place, and says nothing of its tool."""


class Progress(ABC):
    """Shows how a run gets on. Every event is shown once, in order."""

    def __init__(self) -> None:
        """Start with nothing shown."""
        self._seen = 0
        self._last: TraceEvent | None = None

    async def update(self, run: Run) -> None:
        """Ask the run what is new, and show it."""
        news = await run.trace(self._seen)
        missed = await run.paged_events(self._seen, news.first) if news.first > self._seen else ()
        self._seen = news.first + len(news.events)
        self._show((*missed, *news.events))

    def end(self, result: Result) -> None:
        """Show what is left when the run has ended."""
        self._show(events_after(self._last, result.trace.events))

    def close(self) -> None:  # noqa: B027 - lines need no end
        """Leave the terminal as it was."""

    def _show(self, events: tuple[TraceEvent, ...]) -> None:
        if events:
            self._last = events[-1]
            self.show(events)

    @abstractmethod
    def show(self, events: tuple[TraceEvent, ...]) -> None:
        """Show events."""


class Lines(Progress):
    """One short line for each event."""

    def show(self, events: tuple[TraceEvent, ...]) -> None:
        """Print the events."""
        for event in events:
            say(event_line(event, f"{event.budget.elapsed.total_seconds():.3f} s"))


def event_line(event: TraceEvent, when: str, limit: int | None = LINE_CHARS) -> str:
    """Return an event as one line."""
    latency = "" if event.latency_ms is None else f"{event.latency_ms} ms"
    outcome = event.data.get("outcome")
    # What the rule asks for and what is really done may differ: a replan that is not to be had, for one.
    status = f"{event.status} -> {outcome}" if event.kind is TraceKind.RECOVERY_DECIDE else event.status
    status = coded(status, event.data.get("errorCode"))
    artifact = f"artifact {event.data['artifact']}" if "artifact" in event.data else ""
    words = (when, event.kind, subject_of(event), status, latency, event.message or "", *flags_of(event), artifact)
    line = "  ".join(one_line(word) for word in words if word)
    return line if limit is None else line[:limit]


def subject_of(event: TraceEvent) -> str:
    """Return what an event is about: a node, a step of an agent loop, or a call of one with its tool."""
    call, tool, step = event.node_id or event.data.get("call"), event.data.get("tool"), event.data.get("step")
    if isinstance(call, str):
        return f"{call} {tool}" if isinstance(tool, str) and _CALL_ID.fullmatch(call) else call
    return f"step {step}" if event.kind is TraceKind.STEP_FINISH else ""


def choose_progress() -> Progress:
    """Return live progress on a terminal that can do it, else lines."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "") != "dumb":
        from cli.live import Live

        return Live()
    return Lines()
