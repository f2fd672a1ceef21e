"""Ctrl-C and SIGTERM as calls of a handler in the event loop."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from cli.exit_codes import ExitCode
from cli.plain_text import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Receives SIGINT and SIGTERM from `with` on; the handler added last gets them.

    Without a handler the first signal cancels the task, and the second ends the process on the spot.
    """

    def __init__(self, task: "asyncio.Task[int]") -> None:
        """Guard a task of the running loop."""
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._handlers: list[Callable[[], None]] = []
        self.received = 0

    def __enter__(self) -> Self:
        for number in SIGNALS:
            try:
                self._loop.add_signal_handler(number, self._receive)
            except NotImplementedError:  # Windows
                signal.signal(number, self._receive_from_thread)
        return self

    def __exit__(self, *_: object) -> None:
        for number in SIGNALS:
            try:
                self._loop.remove_signal_handler(number)
            except NotImplementedError:
                signal.signal(number, signal.SIG_DFL)

    @contextmanager
    def handled_by(self, handler: Callable[[], None]) -> Iterator[None]:
        """Give the signals to a handler for a while."""
        self._handlers.append(handler)
        try:
            yield
        finally:
            self._handlers.remove(handler)

    def _receive(self) -> None:
        self.received += 1
        if self._handlers:
            self._handlers[-1]()
        elif not self._task.cancelling():
            self._task.cancel()
        else:
            say("Left at once.")
            os._exit(ExitCode.CANCELLED)

    def _receive_from_thread(self, _number: int, _frame: FrameType | None) -> None:
        """Wake the loop, which the bare signal would not do."""
        self._loop.call_soon_threadsafe(self._receive)
