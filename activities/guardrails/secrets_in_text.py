"""Keys, tokens and passwords in a text: those that providers mark as such, and what stands beside a word for one."""

import re
from collections.abc import Iterator
from functools import lru_cache

_MARKED = (
    ("sk-", r"sk-(?:\r?\n(?=[A-Za-z_-]*[0-9]))?[A-Za-z0-9_-]{16,}"),
    ("_live_", r"[a-z]{2}_live_[A-Za-z0-9]{16,}"),
    ("_test_", r"[a-z]{2}_test_[A-Za-z0-9]{16,}"),
    ("gho_", r"gho_[A-Za-z0-9]{20,}"),
    ("ghp_", r"ghp_[A-Za-z0-9]{20,}"),
    ("ghr_", r"ghr_[A-Za-z0-9]{20,}"),
    ("ghs_", r"ghs_[A-Za-z0-9]{20,}"),
    ("ghu_", r"ghu_[A-Za-z0-9]{20,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{16,}"),
    ("xox", r"xox[a-z]-[A-Za-z0-9-]{10,}"),
    ("AKIA", r"AKIA[0-9A-Z]{16}"),
    ("ASIA", r"ASIA[0-9A-Z]{16}"),
    ("AIza", r"AIza[A-Za-z0-9_-]{30,}"),
    ("hf_", r"hf_[A-Za-z0-9]{20,}"),
    ("npm_", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-", r"pypi-[A-Za-z0-9_-]{30,}"),
    ("SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)
"""How the keys and tokens of providers begin, and the whole of them: what the providers' own scanners look for."""
_MARKED_PATTERN = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(whole for _, whole in _MARKED)})")
_STARTS = tuple(start for start, _ in _MARKED)
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\:,]|-(?!-))*"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?"
)
_IN_URL = re.compile(r"://[^\s/:@\"']{1,100}:([^\s/@\"']{3,200})@")
_AFTER_SCHEME = re.compile(r"(?i)\b(?:bearer|basic)\s{1,3}([A-Za-z0-9._~+/=-]{16,})")
_NAMES = (
    r"passw(?:or)?d|passwort|pwd|passphrase|(?:client|app|shared)?[_-]?secret|(?:api|access|secret|private)[_ -]?key"
    r"|(?:auth|access|refresh)[_-]?token|密码|密钥|口令"
)
_NAMED = re.compile(
    rf"(?i)(?<![^\W_])(?:{_NAMES})[\"']?\s{{0,3}}(?P<sign>[=:\uff1a]|\bis\b|是|为)>?\s{{0,3}}"
    r"(?:\"(?P<double>[^\"\n]{4,200})\"|'(?P<single>[^'\n]{4,200})'"
    r"|(?P<bare>[^\s\"',;&<>(){}\[\]\uff0c\u3002\uff1b]{4,200}))"
)
_KEY_OF_SECRET = re.compile(rf"(?i)(?:^|[._-]|(?<=[a-z]))(?:{_NAMES})$")
_WORDS = (*_STARTS, "-----BEGIN", "://", "密码", "密钥", "口令")
_LOWER_WORDS = (
    *("passw", "pwd", "passphrase", "secret", "token", "key", "bearer ", "basic "),
    *("session", "sessid", "authorization", "cookie", "csrf", "xsrf", "jwt"),
)
_NO_VALUE = re.compile(
    r"[<{\[]|\$[({]|\$[A-Z_]+\b|%[(s]|%[A-Z_]+%|\.\.\.|\*{3}|(?i:x{4})|os\.|env\["
    r"|(?i:none|null|true|false|required|optional|string|empty|unset|hidden|redacted|missing|invalid|wrong)(?=$|[\s.,;|)\]])"
)
"""What stands where a value would, and is none."""
_LEAST, _MOST = 4, 200
"""Characters of a password."""
_IS_NAME = re.compile(rf"(?:[A-Za-z_]+\.)+[A-Za-z_]+|(?i:{_NAMES})")
"""What programs write there: self.api_key, or the word again."""
_TELLING = re.compile(r"[0-9]|[^\w\s.]")
"""What a password has and a word of prose has not."""
_PHRASE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){1,9}")
_PROSE = re.compile(
    r"(?i)\b(?:an?|the|this|that|of|to|for|from|in|on|at|by|as|with|and|or|not?|is|are|was|be|been|has|have|must|should"
    r"|can|will|may|it|its|your?|my|our|their|please|enter|user|passwords?|secret|key|value|set|least|characters?)\b"
)
"""Words of a sentence about a password; a passphrase has none of them."""


def may_hold_secret(text: str) -> bool:
    """Return whether a text may hold any; False is certain."""
    return any(map(text.__contains__, _WORDS)) or any(map(text.lower().__contains__, _LOWER_WORDS))


@lru_cache(maxsize=1024)
def names_secret(label: str) -> bool:
    """Return whether a key is that of a secret."""
    return bool(_KEY_OF_SECRET.search(label))


def find_secrets(text: str, label: str = "") -> Iterator[tuple[int, int]]:
    """Return where the secrets of a text are, start and end.

    Args:
        text: Any text.
        label: The key under which it stands in an object; that of a secret makes the whole text one.
    """
    if names_secret(label) and _is_value(text, is_sure=" " not in text or _is_phrase(text)):
        yield 0, len(text)
        return
    if not may_hold_secret(text):
        return
    for pattern in (_PEM, _MARKED_PATTERN):
        yield from (match.span() for match in pattern.finditer(text))
    for pattern in (_IN_URL, _AFTER_SCHEME):
        yield from (match.span(1) for match in pattern.finditer(text) if not _NO_VALUE.match(match[1]))
    for match in _NAMED.finditer(text):
        group = next(name for name in ("double", "single", "bare") if match[name])
        start, end = match.span(group)
        if group == "bare":
            end -= len(match[group]) - len(match[group].rstrip("."))
        is_code = group == "bare" and (text.startswith(("(", "["), end) or _IS_NAME.fullmatch(text, start, end))
        if not is_code and _is_value(text[start:end], is_sure=match["sign"] == "=" or group != "bare"):
            yield start, end


def _is_value(text: str, *, is_sure: bool) -> bool:
    """Return whether what stands where a password would is one, not a word or a place for one."""
    return _LEAST <= len(text) <= _MOST and not _NO_VALUE.match(text) and (is_sure or bool(_TELLING.search(text)))


def _is_phrase(text: str) -> bool:
    """Return whether words may be a password; only beside the key of one."""
    return len(text) <= _MOST and bool(_PHRASE.fullmatch(text)) and not _PROSE.search(text)
