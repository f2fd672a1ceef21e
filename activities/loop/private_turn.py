"""The model's turn without private values: a model may put one together from what it has read, or make one up."""

import json
from dataclasses import replace

from pydantic import JsonValue

from activities.artifact_folders import Owner
from activities.guardrails.vault import Vault
from activities.loop.model_turn import ModelTurn
from harness.loop_calls import ToolCall


async def masked_turn(turn: ModelTurn, vault: Vault, owner: Owner) -> ModelTurn:
    """Return a turn with placeholders for private values.

    Raises:
        ToolError: PROVIDER_UNAVAILABLE when the values cannot be kept.
    """
    calls = [await _masked_call(call, vault, owner) for call in turn.calls]
    answer = None if turn.answer is None else await vault.mask(owner, turn.answer)
    text = await vault.mask(owner, turn.text)
    return replace(turn, text=text, calls=tuple(calls), answer=answer)


async def _masked_call(call: ToolCall, vault: Vault, owner: Owner) -> ToolCall:
    """Return a call with the fields that say something only: it goes into history."""
    arguments = await vault.mask_json(owner, call.arguments)
    told = {
        "tool": await vault.mask(owner, call.tool),
        "arguments": arguments,
        "problem": await vault.mask(owner, call.problem) or await _made_up(arguments, vault, owner),
    }
    return ToolCall.model_validate({"id": call.id, **{name: value for name, value in told.items() if value}})


async def _made_up(arguments: JsonValue, vault: Vault, owner: Owner) -> str:
    """Return why a call with these arguments is refused, empty when it is not: its tool could not be given values."""
    unknown = await vault.unknown(owner, json.dumps(arguments, ensure_ascii=False))
    if not unknown:
        return ""
    return f"no private value is known by the name {unknown[0]}; use those that stand in goal and results"
