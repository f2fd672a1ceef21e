"""The agent loop as Temporal sees it: one workflow, two queries, an update; workflows.loop_story tells the rest."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from harness.loop import LoopResult, LoopView
    from harness.loop_carry import LoopInput

from workflows.loop_answers import loop_view
from workflows.loop_story import LoopStory
from workflows.run_messages import RunMessages


@workflow.defn(failure_exception_types=[ValidationError])
class AgentLoopWorkflow(RunMessages[LoopStory]):
    """One agent loop: the model picks a step, the harness decides, runs it, and feeds back what happened."""

    @workflow.run
    async def run(self, given: LoopInput) -> LoopResult:
        """Work on the goal to a terminal status; a client sends a RunRequest."""
        self._begun = LoopStory(given)
        return await self._begun.tell()

    @workflow.query
    def state(self) -> LoopView:
        """Return the loop as it is now."""
        return loop_view(self.story.state)
