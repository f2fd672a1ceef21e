"""The check of a games report: no price that the tools did not give, and a game that exists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from harness.verification import PASSED, Verdict, report_text

NEAR_CHARS = 240
"""How far a price may stand from the title it belongs to."""

_UNIT = r"(?:USD|EUR|GBP|dollars?|bucks|euros?|pounds?)(?![a-z])"
_SIGN = r"[$€£]"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_FIGURE = re.compile(
    rf"(?:{_SIGN}|\b(?:USD|EUR|GBP))\s*(?P<after>{_NUMBER})"
    rf"|(?P<before>{_NUMBER})(?:\s?{_SIGN}(?!\s*\d)|[\s-]*{_UNIT})"
    r"|(?<![\w.])(?P<bare>\d+\.\d\d)(?![\d%])",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(_NUMBER)
_NOTHING_FITS = re.compile(
    r"\b(?:nothing|none|no (?:\w+ ){0,4}?(?:games?|titles?|match(?:es)?|recommendations?))\b[^.\n]{0,80}"
    r"\b(?:fits?|match(?:es)?|suits?|meets?|satisf\w+|found|available|catalogue|qualif\w+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Mention:
    title: str
    start: int
    end: int


def check_report(goal: str, report: JsonValue, results: dict[str, JsonValue]) -> Verdict:
    """Reject a report with a price of unknown origin, or without any game of the catalogue; all reasons at once."""
    text = report_text(report) or ""
    prices = dict(_prices(results.get("get_prices")))
    titles = sorted({*prices, *_titles(results.get("get_games"))})
    mentions = _mentions(text, titles)
    reasons = list(dict.fromkeys(_price_reasons(text, goal, prices, mentions)))
    if not mentions and not _NOTHING_FITS.search(text):
        reasons.append("the report names no game of the catalogue and does not say that nothing fits")
    return Verdict(outcome="REJECTED", reasons=tuple(reasons)) if reasons else PASSED


def _price_reasons(text: str, goal: str, prices: dict[str, Decimal], mentions: list[_Mention]) -> Iterator[str]:
    of_goal = {_decimal(number) for number in _ANY_NUMBER.findall(goal)} | {Decimal(n) for n in _spelled(goal)}
    for figure in _FIGURE.finditer(text):
        number = figure["after"] or figure["before"] or figure["bare"]
        near = _near(text, figure, mentions)
        allowed = of_goal | {prices[title] for title in near if title in prices}
        if _decimal(number) in allowed:
            continue
        shown = figure.group().strip()
        if not near:
            yield f"the price {shown!r} stands near no game and is no figure of the goal"
        else:
            known = ", ".join(f"{title} costs {prices.get(title, 'an unknown price')}" for title in near)
            yield f"the price {shown!r} is not that of the game named beside it ({known})"


def _near(text: str, figure: re.Match[str], mentions: list[_Mention]) -> list[str]:
    """Return the last title before a figure and, in the same line, the first one after it."""
    before = [m for m in mentions if m.end <= figure.start() and figure.start() - m.end <= NEAR_CHARS]
    line_end = text.find("\n", figure.end())
    limit = min(figure.end() + NEAR_CHARS, line_end if line_end >= 0 else len(text))
    after = [m for m in mentions if figure.end() <= m.start <= limit]
    return list(dict.fromkeys(m.title for m in before[-1:] + after[:1]))


def _mentions(text: str, titles: list[str]) -> list[_Mention]:
    """Find titles as whole words, whatever their case and apostrophes."""
    found = []
    for title in titles:
        pattern = re.escape(title).replace("'", "['\u2019\u02bc]").replace(r"\ ", r"\s+")
        found += [
            _Mention(title, match.start(), match.end())
            for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)
        ]
    return sorted(found, key=lambda mention: mention.start)


def _prices(result: JsonValue) -> Iterator[tuple[str, Decimal]]:
    for row in _rows(result):
        title, price = row.get("title"), row.get("price")
        if isinstance(title, str) and isinstance(price, str) and re.fullmatch(r"\d+(?:\.\d+)?", price):
            yield title, Decimal(price)


def _titles(result: JsonValue) -> list[str]:
    return [title for row in _rows(result) if isinstance(title := row.get("title"), str) and title]


def _rows(result: JsonValue) -> Iterator[dict[str, JsonValue]]:
    """Go through a list of objects, or a list of such lists when a tool was called more than once."""
    for item in result if isinstance(result, list) else []:
        if isinstance(item, dict):
            yield item
        else:
            yield from _rows(item)


def _decimal(number: str) -> Decimal:
    return Decimal(number.replace(",", ""))


def _spelled(goal: str) -> list[int]:
    return [value for word, value in _NUMBER_WORDS.items() if re.search(rf"\b{word}\b", goal, re.IGNORECASE)]


_NUMBER_WORDS = {
    "five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "hundred": 100,
}  # fmt: skip
