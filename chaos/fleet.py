"""The worker processes of a round: started, killed, started again, and stopped for good.

They are forked off a process that has imported everything, which saves the two seconds of an interpreter's start.
"""

import multiprocessing
import signal
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Self

from chaos.worker import Post, work

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["chaos.worker", "chaos.round"])


@dataclass(frozen=True)
class _Worker:
    process: ForkServerProcess
    lifeline: Connection
    """Breaks when this process ends, however that ends, at which the worker ends too."""


class Fleet:
    """So many workers on one task queue. Nobody may outlive it: use it as a context manager."""

    def __init__(self, size: int, post: Post) -> None:
        """Give what each worker is told."""
        self._post = post
        self._workers: list[_Worker | None] = [None] * size
        self.deaths: list[str] = []
        """Workers that ended though nobody killed them."""

    def __enter__(self) -> Self:
        """Start all workers."""
        with ExitStack() as undo:
            undo.callback(self.stop)
            for index in range(len(self._workers)):
                self.start(index)
            undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all workers."""
        self.stop()

    def start(self, index: int) -> None:
        """Start a worker that does not run; its log goes on where the one before it stopped."""
        if self._workers[index] is not None:
            return
        theirs, ours = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(target=work, args=(self._post, index, theirs), daemon=True)
        process.start()
        theirs.close()
        self._workers[index] = _Worker(process, ours)

    def kill(self, index: int) -> bool:
        """Kill a worker and wait until it is gone; return whether it ran."""
        worker, self._workers[index] = self._workers[index], None
        if worker is None:
            return False
        process = worker.process
        had_ended = process.exitcode is not None
        process.kill()
        process.join()
        # One that ends just now is not known to have ended, but the kill came too late for it.
        if had_ended or process.exitcode != -signal.SIGKILL:
            self.deaths.append(f"worker {index} (process {process.pid}) ended by itself with {process.exitcode}")
        worker.lifeline.close()
        return True

    def index_of(self, pid: int) -> int | None:
        """Return which worker has this process id, None when it runs no more."""
        return next((i for i, each in enumerate(self._workers) if each is not None and each.process.pid == pid), None)

    def stop(self) -> None:
        """Kill every worker."""
        for index in range(len(self._workers)):
            self.kill(index)
