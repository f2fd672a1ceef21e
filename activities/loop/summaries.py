"""Summaries: older steps of an agent loop give way to what a model makes of them, and to a record of their calls."""

from dataclasses import dataclass

from activities.artifacts import owner_of_activity
from activities.encodable import encodable
from activities.guardrails.chain import GuardedModel
from activities.guardrails.vault import Vault
from activities.loop.prompts import SUMMARY_RULES, older_steps_text
from activities.loop.scene import Scene, scene_of
from activities.loop.shelf import Shelf
from activities.model.request import ModelError, ModelRequest
from harness.artifact import Artifact
from harness.context_window import head_of, room_for_turns, turns_to_summarise
from harness.conversation import Conversation
from harness.errors import ErrorCode, ToolError
from harness.loop_calls import SummariseRequest
from harness.model_choice import ModelRole
from harness.usage import estimate_tokens

MAX_SQUEEZES = 6
"""How often the room for results is halved."""


@dataclass(frozen=True)
class Shortened:
    """A conversation that was shortened."""

    conversation: Artifact
    context_tokens: int
    summarised: int
    """Steps that the summary stands for, all earlier summaries included."""


async def summarise(request: SummariseRequest, model: GuardedModel, shelf: Shelf, vault: Vault) -> Shortened:
    """Replace the older half of the steps by a summary, which the model writes; its failure leaves the record alone.

    A conversation that is within its limit is here because a model could take less: its results get half the room.

    Raises:
        ToolError: CONTEXT_OVERFLOW when there is nothing that could be shortened; as the store says.
    """
    scene = await scene_of(request, shelf)
    base, conversation = scene.base_tokens, scene.conversation
    count = turns_to_summarise(conversation, room_for_turns(request.soft_tokens, base) // 2)
    if base + conversation.tokens <= request.soft_tokens:
        conversation = _squeezed(conversation, request.soft_tokens, base)
    if count:
        text = await _summary(request, scene, count, model, vault)
        conversation = conversation.without_oldest(count).with_record_within(request.soft_tokens // 8)
        conversation = conversation.model_copy(update={"summary": text})
    shorter = Scene(scene.frame, conversation, scene.facts)
    tokens = shorter.base_tokens + conversation.tokens
    return Shortened(await shelf.put(conversation), tokens, conversation.summarised_steps)


def _squeezed(conversation: Conversation, soft_tokens: int, base: int) -> Conversation:
    """Return a conversation with less room for its results, so much less that the prompt becomes smaller."""
    if not conversation.turns or conversation.squeezes >= MAX_SQUEEZES:
        raise ToolError(
            ErrorCode.CONTEXT_OVERFLOW,
            "the model cannot take the goal, the tools and the newest results, and there is nothing left to shorten: "
            "offer fewer tools, or use a model with a longer context",
        )
    squeezes = conversation.squeezes + 1
    while squeezes < MAX_SQUEEZES and soft_tokens >> squeezes >= base + conversation.tokens:
        squeezes += 1
    return conversation.model_copy(update={"squeezes": squeezes})


async def _summary(request: SummariseRequest, scene: Scene, count: int, model: GuardedModel, vault: Vault) -> str:
    """Return what the model makes of the summary so far and the oldest turns; without it, the summary so far."""
    conversation, limit = scene.conversation, request.soft_tokens // 4
    if not request.max_tokens:
        return conversation.summary
    room = request.max_tokens - request.max_output_tokens - estimate_tokens(SUMMARY_RULES + scene.frame.goal) - 100
    asked = ModelRequest(
        role=ModelRole.STEPS,
        system=SUMMARY_RULES,
        user=older_steps_text(scene.frame, conversation, count, room),
        max_output_tokens=min(request.max_output_tokens, limit),
        timeout=request.timeout,
        goal=scene.frame.goal,
    )
    try:
        answer = await model.ask(asked)
    except ModelError:
        return conversation.summary
    masked = await vault.mask(owner_of_activity(), encodable(answer.text))
    return head_of(masked, limit)
