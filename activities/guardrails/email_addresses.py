"""E-mail addresses in a text, in any script, also those that are spelled out or broken by the end of a line."""

import re
from collections.abc import Iterator

_LATIN = r"A-Za-z0-9\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff"
"""Of addresses in Latin letters: a Chinese sentence has no space before the one that it names."""
_OTHER = r"\u0370-\u1dff\u2c00-\u2dff\u3040-\ud7a3\uf900-\ufdff\U00020000-\U0003ffff"
"""Letters of other scripts; their punctuation is not among them."""
_ANY = _LATIN + _OTHER
_USUAL = (
    r"(?:com|org|net|edu|gov|info|biz|io|ai|app|dev|me|eu|us|uk|de|fr|it|es|nl|be|ch|at|se|pl|ru|cn|jp|kr|in|br|mx|ca"
    r"|au)"
)
"""Ends of addresses that are spelled out or broken: any other word might be one there."""
_LOCAL = (
    rf"(?:(?<![{_LATIN}_.+%'-])[{_LATIN}_+%'-][{_LATIN}_.+%'-]*"
    rf"|(?<![{_OTHER}])[{_OTHER}][{_OTHER}0-9_.-]{{0,63}}|\"[^\"\n@]{{1,64}}\")"
)
_EMAIL = re.compile(
    rf"{_LOCAL}@(?:[{_ANY}](?:[{_ANY}-]{{0,62}}[{_ANY}])?\.)+(?:[A-Za-z]{{2,24}}|xn--[a-z0-9-]{{2,59}}|[{_OTHER}]{{2,24}})"
    rf"(?![{_LATIN}_-])"
)
_BREAK = r"[ \t]?\r?\n[ \t]?(?:> ?)?"
_PART = r"[a-z0-9-]{1,63}"
_BROKEN = re.compile(
    rf"(?<![{_LATIN}_.+%'-])[{_LATIN}_+%'-][{_LATIN}_.+%'-]*@"
    rf"(?:{_BREAK}(?:{_PART}\.){{1,4}}[a-z]{{2,24}}|(?:{_PART}\.){{1,4}}{_BREAK}{_USUAL}"
    rf"|(?:{_PART}\.){{0,3}}(?![0-9-]+\s){_PART}{_BREAK}(?:{_PART}\.){{1,3}}{_USUAL})(?![\w-])"
)
_AT = r" ?[\[({] ?at ?[\])}] ?"
_DOT = r"(?: ?[\[({] ?dot ?[\])}] ?| dot |\.)"
_SPELLED = re.compile(
    rf"(?ai)(?<![\w.+-])(?:[\w+-]{{1,64}}(?:{_DOT}[\w+-]{{1,64}}){{0,4}}{_AT}[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{0,3}}"
    rf"|[\w+-]{{1,64}}(?: dot [\w+-]{{1,64}}){{1,4}} at [\w-]{{1,63}}(?: dot [\w-]{{1,63}}){{0,3}})"
    rf"{_DOT}{_USUAL}(?!\w)"
)
_NO_EMAIL = re.compile(r"git@|[^@]*@[0-9]+x\.")
"""Where code is fetched from, git@github.com:org/repo, and a picture at twice its size, logo@2x.png."""
_SPELLED_AT = re.compile(r"(?i)[\[({] ?at ?[\])}]| dot ")


def may_hold_email(text: str) -> bool:
    """Return whether a text may hold any; False is certain."""
    return "@" in text or _may_be_spelled(text)


def find_emails(text: str) -> Iterator[tuple[int, int]]:
    """Return where the addresses of a text are, start and end."""
    if "@" in text:
        for pattern in (_EMAIL, _BROKEN):
            yield from (match.span() for match in pattern.finditer(text) if not _NO_EMAIL.match(match[0]))
    if _may_be_spelled(text):
        yield from (match.span() for match in _SPELLED.finditer(text))


def _may_be_spelled(text: str) -> bool:
    return (" at" in text and bool(_SPELLED_AT.search(text))) or "[at]" in text or "(at)" in text or "{at}" in text
