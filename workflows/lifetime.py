"""The life of one workflow run: it ends with a result, also when it is cancelled or meets a bug, and never hangs."""

import asyncio
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from harness.errors import ErrorCode, bounded
    from harness.loop import LoopStatus
    from harness.run import RunStatus
    from harness.trace import TraceKind

from workflows.clock import Clock
from workflows.internal_errors import describe_bug, guarded
from workflows.run_core import Ending, RunCore
from workflows.spans import RunSpans

Outcome = TypeVar("Outcome")


class Lifetime(ABC, Generic[Outcome]):
    """What a plan run and an agent loop have in common between their first line and their last."""

    def __init__(self, core: RunCore) -> None:
        """Begin, or take up what the workflow run before has left."""
        self.core = core
        self._clock = Clock(core)
        self._spans = RunSpans(core)
        self._is_cancelled = False

    @property
    def is_over(self) -> bool:
        """Return whether nothing can change the run any more."""
        return self.core.ending is not None or self._clock.is_over

    async def tell(self) -> Outcome:
        """Do the work, whatever happens on the way."""
        try:
            return await guarded(self._work(), self._end_with_bug)
        except asyncio.CancelledError:
            return await self._end_cancelled()
        except ApplicationError as error:
            self._spans.end(error.type)
            raise

    @property
    @abstractmethod
    def _status_of_bug(self) -> RunStatus | LoopStatus:
        """Return how the run ends when its own code fails now."""

    @property
    @abstractmethod
    def _status_of_cancel(self) -> RunStatus | LoopStatus:
        """Return how the run ends when it is cancelled."""

    @abstractmethod
    async def _work(self) -> Outcome:
        """Work to the end."""

    @abstractmethod
    async def _stop(self, reason: str) -> None:
        """Cancel what is in flight, and wait until it has ended."""

    @abstractmethod
    def _result(self, ending: Ending) -> Outcome:
        """Return the result of the run."""

    @abstractmethod
    def _show(self) -> None:
        """Show in the Web UI how the run stands."""

    def _end(self, ending: Ending) -> None:
        """Take how the run has ended."""
        self.core.ending = ending

    async def _end_with_bug(self, bug: Exception) -> Outcome:
        """End a run whose own code failed, with everything that it has."""
        status = self._status_of_bug
        await self._stop("internal error")
        self._end(Ending.of(status, error=describe_bug(bug), error_code=ErrorCode.INTERNAL))
        return await self._finish()

    async def _end_cancelled(self) -> Outcome:
        """Cancel what is in flight, wait for it, and end the run; one that has its ending already keeps it."""
        self._is_cancelled = True
        stopping = asyncio.create_task(self._stop("cancelled"))
        while not stopping.done():
            try:
                await workflow.wait_condition(stopping.done)
            except asyncio.CancelledError:
                workflow.logger.info("cancelled again while work in flight is being cancelled")
        stopping.result()
        if self.core.ending is None:
            reason = bounded(workflow.cancellation_reason() or "cancelled on request")
            self.core.emit(TraceKind.RUN_CANCEL, "CANCELLED", message=reason)
            self._end(Ending.of(self._status_of_cancel, error=reason))
        return await self._finish()

    async def _finish(self) -> Outcome:
        await self._drain()
        ending = self.core.ending
        assert ending is not None  # noqa: S101 - whoever finishes has set it
        self.core.emit(TraceKind.RUN_FINISH, ending.status, message=ending.error)
        self._show()
        self._spans.end()
        # For whoever cannot read a large result, which is in the artifact store.
        workflow.upsert_memo({"status": ending.status.value})
        return self._result(ending)

    async def _drain(self) -> None:
        """Let every message handler end and stop the clock before the workflow run closes."""
        await self._clock.stop()
        await workflow.wait_condition(workflow.all_handlers_finished)

    def _is_hurried(self) -> bool:
        return self._clock.is_over or self._is_cancelled
