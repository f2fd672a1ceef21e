"""Closeness: which known numbers make a number of an answer good, by the words round it.

Amounts of money match to the cent, unless the answer says that they are about so much.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harness.figures import Figure, Reading
from harness.number_words import MONEY_BEHIND, MONEY_CHINESE

_MONEY_BEFORE = re.compile(r"[$€£¥₹₩]\s?$|\b(?:usd|eur|gbp|cny|rmb|jpy|us\$)\s?$", re.IGNORECASE)
_MONEY_AFTER = re.compile(rf"[ \u00a0-]?(?:[$€£¥₹₩]|{MONEY_BEHIND}|{MONEY_CHINESE})", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|some|circa|ca\.|c\.|rund|etwa|ungefähr|zirka|gut)|"
    r"[~≈]|约|大约|"
    r"大概|接近|差不多)[ \u00a0]?(?:an? |just |[$€£¥]|us\$ ?|(?:usd|eur) )?$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(r"[ \u00a0]?(?:or so|左右|上下|[a-z$€£¥元块人美欧]{1,8} ?(?:or so|左右))", re.IGNORECASE)
_UNDER = re.compile(
    r"(?:\b(?:nearly|almost|under|up to|just under|less than|fewer than|close to|fast|knapp|unter|bis zu)|近|"
    r"将近|不到|不足)"
    r"[ \u00a0]?(?:[$€£¥]|us\$ ?)?$",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"(?:\b(?:over|more than|above|at least|just over|upwards of|über|mehr als|mindestens)|超过|逾|"
    r"多于)[ \u00a0]?(?:[$€£¥]|us\$ ?)?$",
    re.IGNORECASE,
)
_REACH = 26
"""Characters before and behind a figure that say how it is meant."""
ABOUT_SHARE, ONE_SIDED_SHARE = Decimal(1) / 15, Decimal(1) / 10
"""Farther away a number with zeros at its end is no rounding, of its own size."""
_CONVERSIONS = tuple(
    (re.compile(rf"[ \u00a0-]?(?:{unit})(?![a-z])", re.IGNORECASE), tuple(map(Decimal, factors)))
    for unit, factors in (
        (r"h|hours?|hrs?|stunden?|个?小时", (60, 3600)),
        (r"min(?:ute[ns]?)?s?|分钟", (60,)),
        (r"[mgt]i?b", (1024, 1000)),
        (r"km|kg|kilomet(?:er|re)s?", (1000,)),
        (r"years?", (12,)),
        (r"weeks?|周", (7,)),
        (r"days?|天", (24,)),
    )
)
_HALF = Decimal("0.5")


@dataclass(frozen=True)
class Meant:
    """How a figure of an answer is meant."""

    is_money: bool
    below: Decimal | None = None
    above: Decimal | None = None
    """Shares of itself by which a hedged number may be off, either way; None for one that is not hedged."""
    conversions: tuple[Decimal, ...] = ()
    """What one of its unit is in smaller ones."""


def meant(figure: Figure, answer: str) -> Meant:
    """Return how a figure is meant, by what stands round it."""
    before, after = answer[max(0, figure.start - _REACH) : figure.start], answer[figure.end : figure.end + _REACH]
    is_money = is_amount(figure, answer)
    factors = next((factors for unit, factors in _CONVERSIONS if unit.match(after)), ())
    if _UNDER.search(before):
        return Meant(is_money, ONE_SIDED_SHARE, Decimal(0), factors)
    if _OVER.search(before):
        return Meant(is_money, Decimal(0), ONE_SIDED_SHARE, factors)
    if _ABOUT.search(before) or _ABOUT_AFTER.match(after):
        return Meant(is_money, ABOUT_SHARE, ABOUT_SHARE, factors)
    return Meant(is_money, conversions=factors)


def is_amount(figure: Figure, answer: str) -> bool:
    """Return whether a figure is an amount of money."""
    before = answer[max(0, figure.start - _REACH) : figure.start]
    return bool(_MONEY_BEFORE.search(before) or _MONEY_AFTER.match(answer, figure.end))


def is_near(reading: Reading, said: Meant, is_scaled: bool, numbers: Sequence[Decimal]) -> bool:  # noqa: FBT001
    """Return whether one of the known numbers, which are sorted, is what a reading rounds or converts."""
    if reading.last_digit is None:
        return False
    number = Decimal(reading.form)
    is_exact = said.is_money and not is_scaled and said.below is None
    slack = Decimal(0) if is_exact else reading.last_digit / 2
    if any(_has(numbers, number - low, number + high) for low, high in _hedges(reading, said, slack)):
        return True
    exact_or_decimal = slack if "." in reading.form or said.below is not None else Decimal(0)
    return any(
        _has(numbers, (number - low) * factor, (number + high) * factor)
        for factor in said.conversions
        for low, high in _hedges(reading, said, min(exact_or_decimal, number * ABOUT_SHARE))
    )


def _hedges(reading: Reading, said: Meant, slack: Decimal) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield how far below and above a number known ones may be."""
    yield slack, slack
    if said.below is None or said.above is None or reading.last_digit is None:
        return
    number, unit = Decimal(reading.form), _shown(reading.form, reading.last_digit)
    is_both = said.below == said.above
    reach = unit / 2 if is_both else unit
    yield min(reach, number * said.below), min(reach, number * said.above)


def _shown(form: str, last_digit: Decimal) -> Decimal:
    """Return what one more in the last digit that is no zero stands for; a half counts as one digit."""
    number = Decimal(form)
    if number % 1 == _HALF and last_digit < 1:
        return _HALF
    unit = last_digit
    while number and number % (unit * 10) == 0:
        unit *= 10
    return unit


def _has(numbers: Sequence[Decimal], least: Decimal, most: Decimal) -> bool:
    return bisect_left(numbers, least) < bisect_right(numbers, most)
