"""The scene of an agent loop: what a step begins with, and the part of its prompt that stands before all steps."""

from dataclasses import dataclass
from datetime import timedelta

from activities.loop.frame import Frame
from activities.loop.prompts import STEP_RULES, user_text
from activities.loop.shelf import Shelf
from activities.model.completion import estimate_prompt
from activities.model.request import ModelRequest
from harness.conversation import Conversation
from harness.loop_calls import LoopContext
from harness.model_choice import ModelRole


@dataclass(frozen=True)
class Scene:
    """The frame, the conversation so far and the facts."""

    frame: Frame
    conversation: Conversation
    facts: dict[str, str]

    @property
    def base_tokens(self) -> int:
        """Estimate a prompt that has no step in view."""
        return estimate_prompt(self.prompt(self.conversation))

    def prompt(self, conversation: Conversation) -> ModelRequest:
        """Return a request without any step in view, and without limits.

        Args:
            conversation: The one to show, of which some steps may be in short only.
        """
        return ModelRequest(
            role=ModelRole.STEPS,
            system=STEP_RULES,
            user=user_text(self.frame, self.facts, conversation),
            max_output_tokens=0,
            timeout=timedelta(0),
            tools=self.frame.offers,
            goal=self.frame.goal,
        )


async def scene_of(context: LoopContext, shelf: Shelf) -> Scene:
    """Load what a request refers to.

    Raises:
        ToolError: ARTIFACT_LOST or PROVIDER_UNAVAILABLE, as the store says.
    """
    frame = await shelf.get(Frame, context.frame)
    kept = context.conversation
    conversation = await shelf.get(Conversation, kept) if kept else Conversation()
    return Scene(frame, conversation, await shelf.facts(context.facts))
