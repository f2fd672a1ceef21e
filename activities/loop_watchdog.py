"""A watchdog over the event loop: a tool that blocks it would stop the whole worker without a word."""

import asyncio
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BLOCKED_LIMIT_S = 30.0
"""Temporal has long given up the activities of a loop that does not heartbeat; see workflows.activity_options."""
PING_S = 1.0
WAIT_S = 0.1
EXIT_CODE = 70
"""EX_SOFTWARE of sysexits.h."""


def leave() -> None:
    """End the process on the spot: nothing else can stop a blocked loop, and Temporal runs its work elsewhere."""
    os._exit(EXIT_CODE)


@contextmanager
def watched_loop(*, limit_s: float = BLOCKED_LIMIT_S, on_blocked: Callable[[], None] = leave) -> Iterator[None]:
    """Watch the running loop while the body runs; when it is blocked for too long, say where, and leave."""
    loop, stop = asyncio.get_running_loop(), threading.Event()
    thread = threading.Thread(
        target=_watch, args=(loop, threading.get_ident(), stop, limit_s, on_blocked), name="loop-watchdog", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()


def _watch(
    loop: asyncio.AbstractEventLoop,
    loop_thread: int,
    stop: threading.Event,
    limit_s: float,
    on_blocked: Callable[[], None],
) -> None:
    while not stop.wait(min(PING_S, limit_s / 2)):
        # Waits are counted instead of time, which also passes while the process is suspended.
        answered, waits = threading.Event(), 0
        try:
            loop.call_soon_threadsafe(answered.set)
        except RuntimeError:
            return  # the loop is closed
        while not answered.wait(WAIT_S):
            if stop.is_set():
                return
            waits += 1
            if waits * WAIT_S > limit_s:
                _say_where(loop_thread, limit_s)
                on_blocked()
                return


def _say_where(loop_thread: int, limit_s: float) -> None:
    frame = sys._current_frames().get(loop_thread)  # noqa: SLF001 - the documented way to see another thread's stack
    stack = "".join(traceback.format_stack(frame)) if frame else "(no stack)"
    text = f"The event loop has been blocked for {limit_s:g} s: make the tool below a plain function instead of async."
    logging.getLogger("whippletree").critical("%s\n%s", text, stack)
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - the last words of the process
