"""What clients may ask of any run and send to it, beside its state: the query `trace` and the update `extend`."""

from typing import Any, Generic, TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from harness.budget import BudgetSnapshot, Extension
    from harness.message_fit import MAX_ANSWER_BYTES
    from harness.trace_log import Trace, TraceSlice
    from harness.wire_size import Room

from workflows.lifetime import Lifetime

TRACE_PAGE = 1000
"""Most events that one answer of the query `trace` holds."""

Story = TypeVar("Story", bound=Lifetime[Any])


class RunMessages(Generic[Story]):
    """Answers for a run of either kind."""

    def __init__(self) -> None:
        """Create a run that has not begun."""
        self._begun: Story | None = None

    @property
    def story(self) -> Story:
        """Return the run; a query that comes before it has begun fails."""
        if self._begun is None:
            msg = "the run has not begun"
            raise RuntimeError(msg)
        return self._begun

    @workflow.query
    def trace(self, after: int = 0) -> TraceSlice:
        """Return at most 1,000 trace events from index `after` on, fewer when they are long; ask until none comes.

        Events in pages are not answered any more: the answer then begins with the first one that is in no page.
        """
        state = self.story.core
        start = max(0, after - state.trace_offset)
        events = Trace(state.trace[start : start + TRACE_PAGE]).first(Room(MAX_ANSWER_BYTES))
        return TraceSlice(first=state.trace_offset + start, events=events)

    @workflow.update
    async def extend(self, more: Extension) -> BudgetSnapshot:
        """Raise the limits of the run; a repeated message id is applied once."""
        await workflow.wait_condition(lambda: self._begun is not None)
        state = self.story.core
        state.extend(more)
        return state.budget.snapshot(state.elapsed)

    @extend.validator
    def _extend_is_possible(self, more: Extension) -> None:  # noqa: ARG002 - the SDK's signature
        parent = workflow.info().parent
        if parent is not None:
            msg = f"this is an agent of run {parent.workflow_id}, whose budget it shares; extend that run instead"
            raise ApplicationError(msg, type="SHARED_BUDGET", non_retryable=True)
        if self._begun is not None and self._begun.is_over:
            msg = "the run has ended or its time is over; start another run with higher limits"
            raise ApplicationError(msg, type="RUN_ENDED", non_retryable=True)
