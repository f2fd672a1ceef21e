"""Tokens of sessions in a text: what stands beside a word that is often harmless, and looks as chance has made it."""

import re
from collections.abc import Iterator
from functools import lru_cache

_NAMES = r"token|session(?:[_-]?id)?|sessid|authorization|csrf|xsrf|jwt"
_NAMED = re.compile(
    rf"(?i)(?<![^\W_])(?:{_NAMES})[\"']?\s{{0,3}}[=:\uff1a]\s{{0,3}}[\"']?(?:(?:bearer|basic|token)\s{{1,3}})?"
    r"([A-Za-z0-9._~+/=%-]{12,4096})"
)
_COOKIES = re.compile(r"(?i)\b(?:set-)?cookie[\"']?\s{0,3}[=:]\s{0,3}[\"']?([^\r\n\"']{8,4096})")
_COOKIE = re.compile(r"[\w.-]{1,64}=([A-Za-z0-9._~+/=%-]{8,4096})")
_KEY = re.compile(r"(?i)(?:^|[._-]|(?<=[a-z]))(?:token|session|authorization|cookie|csrf|xsrf|jwt)$")
_NO_KEY = re.compile(r"(?i)(?:page|next|prev|sync|continuation|resume|max|stop|pad|eos|bos|unk|mask)[._-]?token$")
"""Tokens of pages, and of language models."""
_VALUE = re.compile(r"(?:(?i:bearer|basic|token)\s{1,3})?([A-Za-z0-9._~+/=%-]{12,4096})")
_SWITCH = re.compile(r"(?i)(?=[a-z][0-9]|[0-9][a-z])")
_LEAST_SWITCHES = 2
"""How often letters and digits take turns: `2026-autumn` has none."""
_WORDS = ("token", "session", "sessid", "authorization", "cookie", "csrf", "xsrf", "jwt")


@lru_cache(maxsize=1024)
def names_token(label: str) -> bool:
    """Return whether a key may be that of a token."""
    return bool(_KEY.search(label)) and not _NO_KEY.search(label)


def find_tokens(text: str, label: str = "") -> Iterator[tuple[int, int]]:
    """Return where the tokens of a text are, start and end; the key under which it stands may be that of one."""
    if names_token(label):
        match = _VALUE.fullmatch(text)
        if match and _is_random(match[1]):
            yield match.span(1)
        if label.lower().endswith("cookie"):
            yield from _cookies(text, 0, len(text))
    lower = text.lower()
    if not any(map(lower.__contains__, _WORDS)):
        return
    yield from (match.span(1) for match in _NAMED.finditer(text) if _is_random(match[1]))
    for match in _COOKIES.finditer(text):
        yield from _cookies(text, *match.span(1))


def _cookies(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return (match.span(1) for match in _COOKIE.finditer(text, start, end) if _is_random(match[1]))


def _is_random(text: str) -> bool:
    return len(_SWITCH.findall(text)) >= _LEAST_SWITCHES
