"""Scrubbing: no secret leaves in an error text or in an answer."""

import re
from collections.abc import Iterable
from functools import cache
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
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        for form in {secret, quote(secret, safe="")}:
            text = text.replace(form, HIDDEN)
        if "\\" in text:
            text = _escaped(secret).sub(HIDDEN, text)
    return text


@cache
def _escaped(secret: str) -> re.Pattern[str]:
    """Match a secret of which any character may be escaped as in JSON: reading the JSON would show it."""
    return re.compile("".join(rf"(?:{_plain(char)}|(?i:{_in_hex(char)}))" for char in secret))


def _plain(char: str) -> str:
    return rf"\\?{re.escape(char)}" if char in '"\\/' else re.escape(char)


def _in_hex(char: str) -> str:
    units = char.encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(rf"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
