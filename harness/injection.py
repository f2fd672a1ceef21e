"""Injections: texts that try to give the harness or its model orders, by the patterns that they hit.

Patterns find what is said plainly and what is thinly disguised. They are one layer of several: texts from elsewhere are
fenced whatever they say, and a tool call is checked whoever asks for it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

from harness.disguise import ascii_of, undisguised
from harness.injection_patterns import CHINESE, ENGLISH, Pattern

MAX_HEAD, MAX_TAIL = 1_000_000, 100_000
"""Characters that are read at the beginning and at the end of a text; a model is shown no more of either."""
REACH = 180
"""Characters before and after a trigger that a pattern looks at."""
MAX_SPAN = 1000
"""Characters of the longest part of a text that is looked at in one go."""
MAX_SPANS = 40
"""Parts of a text that one pattern looks at; of a text with more triggers, those at its beginning and its end."""

_CHINESE_PART = re.compile(r"[\u4e00-\u9fff]+(?:[^\u4e00-\u9fff]{1,80}[\u4e00-\u9fff]+)*[^\u4e00-\u9fff]{0,80}")
_MENTION = re.compile(r"injection|jailbreak|attack|注入|攻击|越狱")
"""Who writes about attacks quotes some."""
_QUOTE_OPENS = re.compile(r"[\"'(]\s?(?:please )?$")
MAX_ASKED = 400
"""Characters of a text that may be a question about an order; a longer one may hide it among others."""
_ASKS = re.compile(
    r"(?:\b(?:translat|explain|tests?|check|refus|detect|reject|phrase|sentence|mean|says|reads|shows|example|quot|"
    r"word|block|filter|log|classif|recogni)[a-z]{0,6}\b[^.!?\n\"']{0,50}[\"'(] ?|\btranslate: ?|"
    r"\b(?:users?|someone|people|attackers?|customers?) (?:asks?|tells?|says?|try|tries|types?|wants?)"
    r"(?: (?:it|them|you|to|us|the|a|bot|chatbot|model|assistant)){0,3} |(?:翻译|什么意思|检测|拒绝|"
    r"测试)[^。!?\n]{0,20}[\"'(])$"
)
_ENDS_SOON = re.compile(
    r"(?: (?!and\b|then\b|instead\b)[a-z]{1,14}){0,3}[.!?]?(?:[\"')][^\"']{0,40})?\s*\Z|"
    r"[^。!?,\n\"']{0,10}[\"')][^\"']{0,20}\Z"
)
_QUOTE_ENDS = re.compile(r"[^\"'()]{0,60}[\"')]")


def find_injections(text: str) -> tuple[str, ...]:
    """Return the kinds of attack that a text holds, each once; none means that it gives a model no orders.

    The time is linear in the text, and what is looked at closely is bounded. Of a text that is longer than any prompt
    the beginning and the end are read.
    """
    if len(text) > MAX_HEAD + MAX_TAIL:
        text = f"{text[:MAX_HEAD]}\n{text[-MAX_TAIL:]}"
    found: dict[str, None] = {}
    for said in undisguised(text):
        for kind in _kinds(ascii_of(said), ENGLISH):
            found[kind] = None
        if chinese := "\n".join(_CHINESE_PART.findall(said)):
            for kind in _kinds(chinese, CHINESE):
                found[kind] = None
    return tuple(found)


def _kinds(said: str, patterns: Sequence[Pattern]) -> Iterator[str]:
    """Yield the names of the patterns that a text hits."""
    places = cache(lambda trigger: tuple(_places(trigger, said)))
    for pattern in patterns:
        spans = _spans(sorted(chain.from_iterable(map(places, pattern.triggers))))
        if any(_gives_orders(said, start, end, pattern.regex) for start, end in spans):
            yield pattern.name


def _gives_orders(said: str, start: int, end: int, regex: re.Pattern[str]) -> bool:
    window = said[start:end]
    return any(
        not (_is_quoted(window, match) or _is_asked_about(said, start + match.start(), start + match.end()))
        for match in regex.finditer(window)
    )


def _is_quoted(window: str, match: re.Match[str]) -> bool:
    """Return whether a text only mentions an order: quotation marks enclose it, and attacks are what it is about."""
    if not _QUOTE_OPENS.search(window, max(0, match.start() - 10), match.start()):
        return False
    end = _QUOTE_ENDS.match(window, match.end())
    around = (
        window[max(0, match.start() - REACH // 2) : match.start()] + window[end.end() : end.end() + REACH // 4]
        if end
        else ""
    )
    return bool(_MENTION.search(around))


def _is_asked_about(said: str, start: int, end: int) -> bool:
    """Return whether a short text only asks about an order: how to translate, test or refuse it."""
    if len(said) > MAX_ASKED:
        return False
    start += said[start] in "\"'("
    return bool(_ASKS.search(said[:start]) and _ENDS_SOON.match(said, end))


def _spans(places: Sequence[int]) -> Sequence[tuple[int, int]]:
    """Return where a text is looked at: round the places of triggers."""
    spans: list[tuple[int, int]] = []
    for place in places:
        start, end = max(0, place - REACH), place + REACH
        if spans and start <= spans[-1][1] and end - spans[-1][0] <= MAX_SPAN:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans if len(spans) <= MAX_SPANS else [*spans[: MAX_SPANS // 2], *spans[-MAX_SPANS // 2 :]]


def _places(trigger: str, said: str) -> Iterator[int]:
    place = said.find(trigger)
    while place >= 0:
        yield place
        place = said.find(trigger, place + REACH // 2)
