"""One step of an agent loop: from the conversation so far and what came of its last calls to what is next."""

from dataclasses import dataclass, replace
from itertools import chain

from activities.artifacts import owner_of_activity
from activities.guardrails.chain import GuardedModel
from activities.guardrails.vault import Vault
from activities.loop.evidence import all_figures, with_figures
from activities.loop.model_turn import ModelTurn, said_of, turn_of
from activities.loop.observations import Outcome, observed, outcomes_of
from activities.loop.private_turn import masked_turn
from activities.loop.prompts import messages
from activities.loop.scene import Scene, scene_of
from activities.loop.shelf import Shelf
from activities.model.request import ModelAnswer, ModelRequest
from activities.off_loop import off_loop
from harness.artifact import Artifact
from harness.context_window import head_of, in_view, room_for_outputs, room_for_turns, trimmed
from harness.conversation import Conversation, Turn
from harness.grounding import figures_of, has_figures, ungrounded
from harness.guardrail import Flag, Guardrail
from harness.loop_calls import StepRequest


@dataclass(frozen=True)
class Step:
    """What came of a step."""

    conversation: Artifact
    turn: ModelTurn
    answer: ModelAnswer
    context_tokens: int
    dropped: int
    ungrounded: tuple[str, ...]
    """Figures of the answer that come from nowhere."""


async def take(request: StepRequest, model: GuardedModel, shelf: Shelf, vault: Vault) -> Step:
    """Ask for the next step, and keep the conversation with it.

    Raises:
        ModelError: when the model gave no usable answer; the conversation stays as it was then.
        ToolError: as the store says.
    """
    scene = await scene_of(request, shelf)
    outcomes = await outcomes_of(request.results, shelf)
    _flag_orders(outcomes, model)
    before = await _with_outcomes(scene.conversation, outcomes, request, shelf)
    base = scene.base_tokens
    slim = trimmed(before, room_for_turns(request.soft_tokens >> before.squeezes, base))
    answer = await model.ask(_asked(request, scene, slim.conversation, base))
    turn = turn_of(answer, request.step, must_answer=request.must_answer)
    turn = await masked_turn(turn, vault, owner_of_activity())
    after = slim.conversation.said(_turn(request, turn))
    return Step(
        conversation=await shelf.put(after),
        turn=turn,
        answer=answer,
        context_tokens=base + after.tokens,
        dropped=slim.dropped,
        ungrounded=await _ungrounded(turn, scene, after, shelf),
    )


async def _with_outcomes(
    conversation: Conversation, outcomes: list[Outcome], request: StepRequest, shelf: Shelf
) -> Conversation:
    if not outcomes:
        return conversation
    shown = observed(outcomes, room_for_outputs(request.soft_tokens, conversation.squeezes))
    figures = frozenset().union(*(outcome.figures for outcome in outcomes))
    evidence = await with_figures(conversation.evidence, figures, shelf)
    return conversation.observed(shown).model_copy(update={"evidence": evidence})


def _flag_orders(outcomes: list[Outcome], model: GuardedModel) -> None:
    """Flag errors that try to give orders; results were flagged by the call that gave them."""
    for outcome in outcomes:
        if outcome.orders and outcome.result.code is not None:
            where = f"{outcome.result.tool} {outcome.result.id}"
            flag = Flag(guardrail=Guardrail.INJECTION, where=where, detail=", ".join(outcome.orders))
            model.note(flag, outcome.text)


def _asked(request: StepRequest, scene: Scene, conversation: Conversation, base: int) -> ModelRequest:
    shown = in_view(conversation, room_for_turns(request.hard_tokens, base))
    return replace(
        scene.prompt(shown),
        max_output_tokens=request.max_output_tokens,
        timeout=request.timeout,
        messages=messages(shown.turns, request.notes),
        must_answer=request.must_answer,
    )


def _turn(request: StepRequest, turn: ModelTurn) -> Turn:
    text = head_of(turn.text, room_for_outputs(request.soft_tokens))
    return Turn(step=request.step, notes=request.notes, text=text, calls=tuple(map(said_of, turn.calls)))


async def _ungrounded(turn: ModelTurn, scene: Scene, conversation: Conversation, shelf: Shelf) -> tuple[str, ...]:
    """Return the figures of an answer that come from no result, goal, data or fact."""
    answer, facts = turn.answer, "\n".join([*scene.facts, *scene.facts.values()])
    if answer is None or not has_figures(answer):
        return ()
    found = [await all_figures(each, shelf) for each in (scene.frame.evidence, conversation.evidence)]
    size = len(answer) + len(facts) + sum(map(len, chain.from_iterable(found)))
    return await off_loop(lambda: ungrounded(answer, figures_of(facts).union(*found)), size=size)
