"""The current details that the Web UI shows of a run."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.details import MAX_ROWS, render_details

from workflows.answers import view_of
from workflows.run_state import RunState

INTERVAL = timedelta(seconds=1)
"""Least workflow time between two renderings: a large plan has many events a second."""


class CurrentDetails:
    """Shows one run."""

    def __init__(self, state: RunState) -> None:
        """Show nothing yet."""
        self._state = state
        self._shown_at: float | None = None

    def refresh(self) -> None:
        """Show the run as it is now."""
        self._shown_at = workflow.time()
        rows = MAX_ROWS if len(self._state.nodes) <= MAX_ROWS else 0
        workflow.set_current_details(render_details(view_of(self._state, most_nodes=rows)))

    def refresh_if_due(self) -> None:
        """Show the run as it is now unless that was done a moment ago."""
        if self._shown_at is None or workflow.time() - self._shown_at >= INTERVAL.total_seconds():
            self.refresh()
