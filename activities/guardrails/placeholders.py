"""Placeholders: what stands for a private value wherever a model, a history or a log could see it."""

import re

PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]{1,20}_(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{8})>")
"""Such as `<EMAIL_3f9a2c41>`: a kind, and digits that only the run can compute."""
EXAMPLE = "<EMAIL_00000000>"
"""For prompts: no value ever gets this one, so a model that copies it is told so."""
LENGTHS = (8, 16, 32, 64)
"""Digits that a placeholder may have; more than the first where two values would share it."""


def placeholders_of(text: str) -> tuple[str, ...]:
    """Return what may be placeholders in a text, each once."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text))) if "<" in text else ()
