"""What goes into a tool and what comes out of it: arguments with private values, results with placeholders."""

from collections.abc import Mapping

from pydantic import JsonValue

from activities.artifact_folders import Owner
from activities.guardrails.chain import GuardedModel
from activities.guardrails.json_texts import texts_of
from activities.guardrails.placeholders import placeholders_of
from activities.guardrails.vault import Vault
from activities.off_loop import LARGE, off_loop
from activities.tool_result import as_bytes
from harness.guardrail import Flag, Guardrail, GuardReport
from harness.injection import find_injections
from harness.record import record

_LEAST_SAID = 128
"""Characters of JSON that may hide an order without spaces."""
_PLAIN = frozenset({int, float, bool, type(None)})


@record()
class Returned:
    """A result as it may be told."""

    plain: JsonValue
    data: bytes
    """The same as JSON."""
    is_masked: bool
    """True when private values in it were replaced."""
    attacks: tuple[str, ...]
    """What kinds of orders it tries to give."""


async def given(
    vault: Vault, owner: Owner, arguments: Mapping[str, JsonValue], *, size: int
) -> Mapping[str, JsonValue]:
    """Return arguments with private values in place of their placeholders.

    Args:
        vault: Where the values are.
        owner: The run.
        arguments: As the workflow has them; what was stored is loaded.
        size: Bytes of what was stored.

    Raises:
        ToolError: PROVIDER_UNAVAILABLE when the store cannot tell.
    """
    if not any(map(_may_hold, arguments.values())):
        return arguments
    restored = await vault.restore_json(owner, dict(arguments), size=size)
    return restored if isinstance(restored, dict) else arguments


async def returned(vault: Vault, owner: Owner, plain: JsonValue, data: bytes) -> Returned:
    """Return a result with placeholders in place of its private values, and say what orders it tries to give.

    Raises:
        ToolError: PROVIDER_UNAVAILABLE when the values cannot be kept.
    """
    text, size = data.decode(), len(data)
    if "<" in text:
        await vault.keep_lookalikes(owner, text)
    attacks = await off_loop(lambda: find_injections(_spoken(plain, text)), size=size) if _has_words(text) else ()
    if size < LARGE:  # most are, and have nothing to wait for
        may_change = vault.may_change(owner, text)
    else:
        may_change = await off_loop(lambda: vault.may_change(owner, text), size=size)
    if not may_change:
        return Returned(plain, data, is_masked=False, attacks=attacks)
    masked = await vault.mask_json(owner, plain, size=size)
    if masked is plain:
        return Returned(plain, data, is_masked=False, attacks=attacks)
    return Returned(masked, as_bytes(masked), is_masked=True, attacks=attacks)


def reported(told: Returned, model: GuardedModel, *, where: str) -> GuardReport | None:
    """Return what the guardrails have found in a call, its model calls included; None when there is nothing to tell."""
    if told.attacks:
        flag = Flag(guardrail=Guardrail.INJECTION, where=where, detail=", ".join(told.attacks))
        model.note(flag, told.data.decode())
    if told.is_masked:
        model.note_masked(len(placeholders_of(told.data.decode())), told.data.decode())
    ran = (Guardrail.INJECTION,) * bool(told.attacks) + (Guardrail.PII,) * told.is_masked
    if not ran:
        return model.report
    report = model.report or GuardReport()
    return report.model_copy(update={"ran": tuple(each for each in Guardrail if each in (*ran, *report.ran))})


def _may_hold(value: JsonValue) -> bool:
    return "<" in value if isinstance(value, str) else type(value) not in _PLAIN


def _has_words(text: str) -> bool:
    """Return whether a result may say something: looking for orders costs a small one more than all the rest."""
    is_long = len(text) >= _LEAST_SAID
    return is_long or " " in text or "\\" in text or text.count("_") > 1 or not text.isascii()


def _spoken(plain: JsonValue, text: str) -> str:
    """Return what a model would read in a result: its JSON, unless that has escapes between the words."""
    return text if "\\" not in text else "\n".join(each for each, _ in texts_of(plain))
