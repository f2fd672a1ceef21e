"""Price wishes: what a text says about the price of a game."""

import re
from dataclasses import dataclass
from decimal import Decimal

_WORDS = {
    "five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "hundred": 100,
}  # fmt: skip
_NUMBER = rf"\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d{{1,2}})?|(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
_AMOUNT = re.compile(
    rf"(?<![\w.])(?P<before>US\$|\$|USD|€|£|EUR|GBP)?\s*(?P<number>{_NUMBER})(?![\d.]*\d)"
    r"(?P<after>\s?[$€£](?!\s*\d)|[\s-]?(?:USD|US dollars?|dollars?|bucks|euros?|EUR|pounds?|GBP)(?![a-z]))?",
    re.IGNORECASE,
)
_OTHER_UNIT = re.compile(
    r"[\s-]*(?:min|hour|hr|h\b|day|week|player|people|person|game|title|year|%|percent|gb|option|recommend|fps|am\b|pm\b"
    r"|st\b|nd\b|rd\b|th\b)",
    re.IGNORECASE,
)
_FILLER = (
    r"(?:\s+(?:want|wanna|to|pay|spend|costs?|costing|go|be|priced|anything|any|games?|that|is|are|really|at))*\s+"
)
_NO = r"(?:\bno|\bnot|n't|\bnothing|\bnever|\bcannot|\bcant|\bdont)"
_OVER = r"(?:over|above|more than|higher than|more expensive than|beyond)"
_UNDER = r"(?:under|below|less than|cheaper than|lower than|beneath)"
_LEAD = r"\s*(?:about\s+|around\s+|roughly\s+|a\s+)?$"
_QUALIFIERS = (
    (re.compile(rf"{_NO}{_FILLER}{_OVER}{_LEAD}", re.IGNORECASE), "ceiling", True),
    (re.compile(rf"{_NO}\s+{_UNDER}{_LEAD}", re.IGNORECASE), "floor", True),
    (re.compile(rf"(?:\b{_UNDER}|<){_LEAD}", re.IGNORECASE), "ceiling", False),
    (re.compile(rf"(?:\b{_OVER}|>){_LEAD}", re.IGNORECASE), "floor", False),
    (
        re.compile(r"(?:\bat least|\bminimum(?: of)?|\bmin\.?|\bstarting (?:at|from)|>=|≥)\s*$", re.IGNORECASE),
        "floor",
        True,
    ),
    (
        re.compile(
            r"(?:\bat most|\bup to|\bmax(?:imum)?\.?(?: of)?:?|\b(?:limit|budget)(?: of| is)?:?|\bspend|<=|≤)\s*$",
            re.IGNORECASE,
        ),
        "ceiling",
        True,
    ),
)
_SUFFIXES = (
    (
        re.compile(
            r"\s*(?:or (?:less|under|below|cheaper|lower)|max\b|maximum|at most|tops|budget|limit)", re.IGNORECASE
        ),
        "ceiling",
    ),
    (re.compile(r"\s*(?:\+|or (?:more|above|over|up)|and (?:up|above|more)|minimum|at least)", re.IGNORECASE), "floor"),
)
_RANGE = re.compile(r"\s*(?:and|to|-|\u2013)\s*", re.IGNORECASE)
_RANGE_LEAD = re.compile(r"\b(?:between|from)\s*$", re.IGNORECASE)
_FREE = re.compile(
    r"\bfor free\b|\bfree[- ]to[- ]play\b|\bf2p\b|\bfree (?:\w+ )?games?\b|\bcosts? nothing\b|\bwithout paying\b"
    r"|\b(?:no|zero) cost\b|\b(?:something|anything) free\b|\b(?:is|be|are|it's|totally) free\b(?! of| from)",
    re.IGNORECASE,
)
_CHEAP = re.compile(
    r"\b(?:cheap\w*|inexpensive|affordable|low[- ]cost|budget[- ]friendly|on a budget)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class PriceBound:
    """One end of a price range."""

    amount: Decimal
    is_inclusive: bool


@dataclass(frozen=True)
class PriceWish:
    """What a price must be."""

    ceiling: PriceBound | None = None
    floor: PriceBound | None = None
    is_cheap: bool = False
    """True when a low price is welcome, without a figure."""
    foreign_currency: str = ""
    """Currency of the figures when it is not USD."""

    def allows(self, price: Decimal) -> bool:
        """Return whether a price keeps within the range."""
        return not self.is_above(price) and not self.is_below(price)

    def is_above(self, price: Decimal) -> bool:
        """Return whether a price is too high."""
        top = self.ceiling
        return top is not None and not (price < top.amount or (top.is_inclusive and price == top.amount))

    def is_below(self, price: Decimal) -> bool:
        """Return whether a price is too low."""
        low = self.floor
        return low is not None and not (price > low.amount or (low.is_inclusive and price == low.amount))

    def describe(self) -> tuple[str, ...]:
        """Return the wish in words."""
        words = []
        currency = self.foreign_currency or "USD"
        if self.ceiling and not self.ceiling.amount:
            words.append("free of charge")
        elif self.ceiling:
            words.append(
                f"{'at most' if self.ceiling.is_inclusive else 'below'} {_plain(self.ceiling.amount)} {currency}"
            )
        if self.floor:
            words.append(f"{'at least' if self.floor.is_inclusive else 'above'} {_plain(self.floor.amount)} {currency}")
        if self.is_cheap and not self.ceiling:
            words.append("cheap")
        return tuple(words)


@dataclass(frozen=True)
class _Amount:
    value: Decimal
    start: int
    end: int
    is_marked: bool
    currency: str


def read_price_wish(text: str) -> PriceWish:
    """Read the price range of a wish; of several ceilings the lowest counts, of several floors the highest."""
    amounts = [amount for match in _AMOUNT.finditer(text) if (amount := _amount(match, text))]
    bounds: list[tuple[str, PriceBound]] = [("ceiling", PriceBound(Decimal(0), True))] if _FREE.search(text) else []
    used: list[_Amount] = []
    while amounts:
        first, *rest = amounts
        if rest and _is_range(text, first, rest[0]):
            bounds += [("floor", PriceBound(first.value, True)), ("ceiling", PriceBound(rest[0].value, True))]
            used += [first, rest[0]]
            amounts = rest[1:]
            continue
        bound = _bound(text, first)
        if bound:
            bounds.append(bound)
            used.append(first)
        amounts = rest
    ceilings = [bound for kind, bound in bounds if kind == "ceiling"]
    floors = [bound for kind, bound in bounds if kind == "floor"]
    return PriceWish(
        ceiling=min(ceilings, key=lambda bound: (bound.amount, bound.is_inclusive), default=None),
        floor=max(floors, key=lambda bound: (bound.amount, not bound.is_inclusive), default=None),
        is_cheap=_CHEAP.search(text) is not None,
        foreign_currency=next((amount.currency for amount in used if amount.currency), ""),
    )


def _amount(match: re.Match[str], text: str) -> _Amount | None:
    mark = f"{match['before'] or ''}{match['after'] or ''}".strip(" -").upper()
    if not mark and _OTHER_UNIT.match(text, match.end()):
        return None
    number = match["number"].lower().replace(",", "")
    value = Decimal(_WORDS[number]) if number in _WORDS else Decimal(number)
    foreign = next((name for signs, name in _FOREIGN if any(sign in mark for sign in signs)), "")
    start = match.start("before") if match["before"] else match.start("number")
    return _Amount(value, start, match.end(), bool(mark), foreign)


_FOREIGN = ((("€", "EUR"), "EUR"), (("£", "POUND", "GBP"), "GBP"))


def _is_range(text: str, low: _Amount, high: _Amount) -> bool:
    between = _RANGE.fullmatch(text, low.end, high.start) is not None
    led = _RANGE_LEAD.search(text[: low.start]) is not None
    marked = low.is_marked or high.is_marked
    dashed = text[low.end : high.start].strip() in {"-", "\u2013", "to"}
    return between and low.value <= high.value and (led or (marked and dashed))


def _bound(text: str, amount: _Amount) -> tuple[str, PriceBound] | None:
    before = text[: amount.start]
    for pattern, kind, is_inclusive in _QUALIFIERS:
        if pattern.search(before):
            return kind, PriceBound(amount.value, is_inclusive)
    if not amount.is_marked:
        return None
    for pattern, kind in _SUFFIXES:
        if pattern.match(text, amount.end):
            return kind, PriceBound(amount.value, True)
    return "ceiling", PriceBound(amount.value, True)


def _plain(amount: Decimal) -> str:
    return f"{amount:f}"
