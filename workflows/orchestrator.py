"""The plan run as Temporal sees it: one workflow with two queries and an update; workflows.run_story tells the rest."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from harness.carry import RunInput
    from harness.run import RunResult, RunView

from workflows.answers import view_of
from workflows.run_messages import RunMessages
from workflows.run_story import RunStory


@workflow.defn(failure_exception_types=[ValidationError])
class OrchestratorWorkflow(RunMessages[RunStory]):
    """One run: plan, validate, execute, verify, and replan on failure."""

    @workflow.run
    async def run(self, given: RunInput) -> RunResult:
        """Run the goal to a terminal status; a client sends a RunRequest."""
        self._begun = RunStory(given)
        return await self._begun.tell()

    @workflow.query
    def state(self) -> RunView:
        """Return the run as it is now."""
        return view_of(self.story.state)
