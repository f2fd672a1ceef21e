"""Masking of requests: no private value gets into a prompt, and fences stay closed over what is replaced in them."""

import re
from dataclasses import replace

from activities.artifact_folders import Owner
from activities.guardrails.vault import Vault
from activities.model.request import Message, ModelCall, ModelRequest
from activities.prompts import fenced

_FENCED = re.compile(r"^\[\[begin ([a-z0-9_]+) ([0-9a-f]{16})\]\]\n(.*?)\n\[\[end \1 \2\]\]", re.MULTILINE | re.DOTALL)


async def masked_request(vault: Vault, owner: Owner, request: ModelRequest) -> ModelRequest:
    """Return a request with placeholders in place of private values, in whatever of it varies."""
    return replace(
        request,
        system=await _masked(vault, owner, request.system),
        user=await _masked(vault, owner, request.user),
        messages=tuple([await _message(vault, owner, message) for message in request.messages]),
    )


async def _message(vault: Vault, owner: Owner, message: Message) -> Message:
    calls = [ModelCall(call.id, call.name, await vault.mask(owner, call.arguments)) for call in message.calls]
    return replace(message, text=await _masked(vault, owner, message.text), calls=tuple(calls))


async def _masked(vault: Vault, owner: Owner, text: str) -> str:
    """Mask a text. A fence in which something is replaced is made anew: its code is that of its content."""
    whole = await vault.mask(owner, text)
    if whole == text:
        return text
    parts, position = [], 0
    for fence in _FENCED.finditer(text):
        parts.append(await vault.mask(owner, text[position : fence.start()]))
        content = await vault.mask(owner, fence[3])
        parts.append(fence.group() if content == fence[3] else fenced(fence[1], content, limit=len(content)))
        position = fence.end()
    return "".join([*parts, await vault.mask(owner, text[position:])])
