"""What the rules of an agent loop carry through continue-as-new: bounded, however many steps there were."""

from pydantic import BaseModel, ConfigDict, Field

from harness.context_watch import ContextWatch
from harness.loop_detection import Progress, RepeatedCalls
from harness.loop_effects import Closing, End
from harness.made_writes import MadeWrites
from harness.step_calls import StepCalls


class AgentCarry(BaseModel):
    """An AgentState at one moment. Under 20 KB, beside the newest step's calls and results and an answer."""

    model_config = ConfigDict(frozen=True)

    step: int
    """The step that is asked next."""
    context: ContextWatch
    newest: StepCalls
    repeated: RepeatedCalls
    progress: Progress
    writes: MadeWrites = Field(default_factory=MadeWrites)
    notes: tuple[str, ...] = ()
    """What the model is told next."""
    failed_answers: int = 0
    is_corrected: bool = False
    draft: str | None = None
    """The answer that was to be corrected, whole: it may be how the loop ends."""
    closing: Closing | None = None
    end: End | None = None
