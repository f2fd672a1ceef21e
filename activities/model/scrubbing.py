"""Scrubbing: no secret leaves in an error text."""

import re
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "***"

_PATTERNS = (
    (re.compile(r"://[^/\s@]+@"), f"://{HIDDEN}@"),
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=*-]+", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"\bsk-[\w*.-]{4,}"), HIDDEN),
    (re.compile(r"(?i)([?&](?:api[-_]?key|key|token|access_token|sig)=)[^&\s]+"), rf"\1{HIDDEN}"),
)


def scrub(text: str, secrets: Iterable[str]) -> str:
    """Replace known secrets, and whatever looks like a credential, by asterisks."""
    text = hide(text, secrets)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def hide(text: str, secrets: Iterable[str]) -> str:
    """Replace known secrets by asterisks, and nothing else: in other words than a server's, "basic" is a word."""
    for secret in sorted(secrets, key=len, reverse=True):
        for form in {secret, quote(secret, safe="")}:
            text = text.replace(form, HIDDEN)
    return text
