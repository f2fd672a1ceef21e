"""Grounding: figures, prices, dates and times of an answer must come from what is known."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal

from harness.closeness import is_amount, is_near, meant
from harness.figures import MOST_COUNTED, Figure, number_of, read_figures
from harness.idioms import idle_spans

MAX_READ = 2_000_000
"""Characters of one text in which figures are looked for."""

_DATE = re.compile(r"(?:(\d{4})-|-)(\d{2})-(\d{2})")
_LISTED = re.compile(r"(?:^|\n)[ \t>*#-]*\(?$")
_LIST_MARK = re.compile(r"[.)、:][ \t*]")
_DAY = "day "
"""Before the day of a date that is known: it is no number of anything else."""
_DAY_BEHIND = re.compile(r"(?:st|nd|rd|th)\b| ?[日号]|\.? ?(?:[-–—/]|(?:to|and|until|bis|und|or)\b|[至到和]) ?\d")  # noqa: RUF001 - dashes of ranges
_UNIT = re.compile(
    r"[ \u00a0-]?(?:[$€£¥₹₩%°]|(?:usd|eur|gbp|cny|rmb|jpy|dollars?|euros?|pounds?|cents?|h|hours?|hrs?|min(?:ute)?s?|"
    r"s|sec(?:ond)?s?|ms|days?|weeks?|months?|years?|km|m|cm|mm|miles?|kg|g|mg|lbs?|l|ml|[kmgt]i?b|kwh?|percent|degrees?)"
    r"(?![a-z])|[元块美欧日]|英镑|小时|分钟|秒|天|周|个?月|年|公里|米|公斤|克|度|人民币)",
    re.IGNORECASE,
)


def figures_of(text: str) -> frozenset[str]:
    """Return the figures, dates and times of a text in normal form, and parts of dates, for `ungrounded` to know."""
    known: set[str] = set()
    for figure in read_figures(text[:MAX_READ]):
        for reading in figure.readings:
            known.add(reading.form)
            known.update(_parts(reading.form))
        known.update(figure.listed)
    return frozenset(known)


def has_figures(text: str) -> bool:
    """Return whether there is any figure in a text; what stands behind the first one is not read."""
    return next(read_figures(text[:MAX_READ]), None) is not None


def ungrounded(answer: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the figures of an answer that come from nothing known, as they stand in it, in their order, each once.

    Forgiven are numbers of lists, whole numbers up to 12 without a unit, and numbers rounded to what they show.

    Args:
        answer: What is to be checked.
        known: What `figures_of` returned, together for all texts that the answer may draw on.
    """
    forms = known if isinstance(known, set | frozenset) else frozenset(known)
    numbers = sorted(number for number in map(number_of, forms) if number is not None)
    spans = sorted(idle_spans(answer[:MAX_READ], lambda number: str(number) in forms))
    return tuple(
        dict.fromkeys(
            figure.text
            for figure in read_figures(answer[:MAX_READ])
            if not (_is_known(figure, answer, forms, numbers) or _is_forgiven(figure, answer) or _is_in(figure, spans))
        )
    )


def _is_known(figure: Figure, answer: str, forms: Collection[str], numbers: Sequence[Decimal]) -> bool:
    if any(reading.form in forms for reading in figure.readings):
        return True
    said = meant(figure, answer)
    if any(is_near(reading, said, bool(figure.scale), numbers) for reading in figure.readings):
        return True
    if f"{_DAY}{figure.readings[0].form}" in forms and _DAY_BEHIND.match(answer, figure.end):
        return True
    return bool(figure.listed) and all(form in forms for form in figure.listed)


def _is_in(figure: Figure, spans: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(spans, (figure.start, MAX_READ))
    return place > 0 and figure.start < spans[place - 1][1]


def _is_forgiven(figure: Figure, answer: str) -> bool:
    before, after = answer[max(0, figure.start - 20) : figure.start], answer[figure.end : figure.end + 12]
    number = number_of(figure.readings[0].form)
    if number is None or figure.scale or not figure.text.isdecimal():
        return False
    if len(figure.text) <= 2 and _LISTED.search(before) and _LIST_MARK.match(after):  # noqa: PLR2004 - lists are short
        return True
    return number <= MOST_COUNTED and not is_amount(figure, answer) and not _UNIT.match(after)


def _parts(form: str) -> Iterator[str]:
    """Yield what else may be said by whoever knows a date: without its year, only its month, only its year."""
    if date := _DATE.fullmatch(form):
        year, month, day = date.groups()
        yield from (f"-{month}-{day}", f"{_DAY}{int(day)}")
        if year:
            yield from (year, f"{year}-{month}")
