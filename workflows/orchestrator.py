"""The plan run as Temporal sees it: one workflow with two queries and an update; workflows.run_story tells the rest."""

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from harness.budget import BudgetSnapshot, Extension
    from harness.carry import RunInput
    from harness.message_fit import MAX_ANSWER_BYTES
    from harness.run import RunResult, RunView
    from harness.trace import TraceSlice
    from harness.wire_size import Room

from workflows.answers import view_of
from workflows.run_story import RunStory

TRACE_PAGE = 1000
"""Most events that one answer of the query `trace` holds."""


@workflow.defn(failure_exception_types=[ValidationError])
class OrchestratorWorkflow:
    """One run: plan, validate, execute, verify, and replan on failure."""

    def __init__(self) -> None:
        """Create a run that has not begun."""
        self._begun: RunStory | None = None

    @workflow.run
    async def run(self, given: RunInput) -> RunResult:
        """Run the goal to a terminal status; a client sends a RunRequest."""
        self._begun = RunStory(given)
        return await self._begun.tell()

    @workflow.query
    def state(self) -> RunView:
        """Return the run as it is now."""
        return view_of(self._story.state)

    @workflow.query
    def trace(self, after: int = 0) -> TraceSlice:
        """Return at most 1,000 trace events from index `after` on, fewer when they are long; ask until none comes.

        Events in pages are not answered any more: the answer then begins with the first one that is in no page.
        """
        state = self._story.state
        start = max(0, after - state.trace_offset)
        events = Room(MAX_ANSWER_BYTES).first(state.trace[start : start + TRACE_PAGE])
        return TraceSlice(first=state.trace_offset + start, events=events)

    @workflow.update
    async def extend(self, more: Extension) -> BudgetSnapshot:
        """Raise the limits of the run; a repeated message id is applied once."""
        await workflow.wait_condition(lambda: self._begun is not None)
        state = self._story.state
        state.extend(more)
        return state.budget.snapshot(state.elapsed)

    @extend.validator
    def _extend_is_possible(self, more: Extension) -> None:  # noqa: ARG002 - the SDK's signature
        if self._begun is not None and self._begun.is_over:
            msg = "the run has ended or its time is over; start another run with higher limits"
            raise ApplicationError(msg, type="RUN_ENDED", non_retryable=True)

    @property
    def _story(self) -> RunStory:
        if self._begun is None:
            msg = "the run has not begun"
            raise RuntimeError(msg)
        return self._begun
