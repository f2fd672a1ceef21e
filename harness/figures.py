"""Figures: the numbers, prices, dates and times in a text, each with the normal forms in which it may be meant."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from heapq import merge

from harness.number_words import chinese_number_words, number_words

MAX_DIGITS = 30
"""Longer runs of digits are ids, which nobody rounds."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_YEAR = r"(?:,?\ [12]\d{3}\b)"
_SCALE = (
    r"%|percent\b|per\ cent\b|thousand\b|million\b|billion\b|trillion\b|mn\b|bn\b|mio\b\.?|mrd\b\.?|millionen\b|"
    r"milliarden\b|tausend\b|[km](?![a-z0-9])|万|亿|千"
)
_FIGURE = re.compile(
    rf"""
    (?=[0-9<jfmasond])(?:
    (?P<placeholder><[a-z_]{{1,40}}_[0-9a-f]{{8,64}}>)
    | (?<=\dt)(?P<clock>\d{{2}}:\d{{2}}(?::\d{{2}})?)(?:\.\d+)?
    | (?<![a-z0-9_])(?<!\d\.)(?:
        (?P<iso>[12]\d{{3}}(?P<by>[-/.])\d{{1,2}}(?P=by)\d{{1,2}})(?!\d)
      | (?P<chinese>(?:[12]\d{{3}}\ ?年\ ?)?\d{{1,2}}\ ?月\ ?\d{{1,2}}\ ?[日号])
      | (?P<day_first>\d{{1,2}}(?:st|nd|rd|th|\.)?\ (?:of\ )?{_MONTH}{_YEAR}?)
      | (?P<short>\d{{1,2}}(?P<of>[./])\d{{1,2}}(?P=of)(?:[12]\d{{3}}|\d{{2}}))(?![\d.])
      | (?P<dotted>\d+(?:\.\d+){{2,}})(?!,?\d)
      | (?P<time>\d{{1,2}}(?::\d{{2}}){{1,2}}(?:\ ?[ap]\.?m\b)?|\d{{1,2}}\ ?[ap]\.?m\b)(?:\.\d+)?
      | (?P<number>\d{{1,3}}(?:[,'\u00a0\u202f]\d{{3}})+(?!\d)(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d{{1,4}}(?!\d)
          |\d+(?:\.\d+|,\d+(?![.,]\d))?)(?![a-z]{{0,20}}\d)(?:\ ?(?P<scale>{_SCALE}))?
    )
    | (?<![a-z])(?P<month_first>{_MONTH}\ \d{{1,2}}(?:st|nd|rd|th)?\b(?![:.,]?\d){_YEAR}?)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_WIDE = {0xFF10 + digit: str(digit) for digit in range(10)} | dict(
    zip(map(ord, "．，：％－／’"), ".,:%-/'", strict=True)  # noqa: RUF001 - full-width forms
)
_TENS = {
    **dict.fromkeys(("%", "percent", "per cent"), -2),
    **dict.fromkeys(("k", "thousand", "tausend", "千"), 3),
    "万": 4,
    **dict.fromkeys(("m", "mn", "mio", "mio.", "million", "millionen"), 6),
    "亿": 8,
    **dict.fromkeys(("bn", "billion", "mrd", "mrd.", "milliarden"), 9),
    "trillion": 12,
}
"""Powers of ten of what stands behind a number."""
MOST_COUNTED = 12
"""Up to here people count without saying of what."""
GROUP = 3
"""Digits between the commas of a large number."""
MAX_DAY = 31
CENTURY = 2000
"""Of years with two digits."""
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]{1,20}_(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{8})>")
_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Figure:
    """One figure as it stands in a text."""

    text: str
    start: int
    end: int
    readings: tuple["Reading", ...]
    scale: str = ""
    """The word or sign behind a number, such as % or million."""
    listed: tuple[str, ...] = ()
    """Normal forms of several numbers, should its commas only separate those: 24,99 in a list of whole numbers."""


@dataclass(frozen=True)
class Reading:
    """One way in which a figure may be meant."""

    form: str
    """Normal form, such as 1234.5, 2026-11-30 or 10:05."""
    last_digit: Decimal | None = None
    """Of a number: what one more in its last digit stands for. None for what nobody rounds."""


def read_figures(text: str) -> Iterator[Figure]:
    """Yield the figures of a text in their order; placeholders of private values are such, too."""
    wide = text.translate(_WIDE)
    words = merge(_words(text, number_words(wide)), _words(text, chinese_number_words(wide)), key=_start)
    yield from merge(_written(text, wide), words, key=_start)


def _start(figure: Figure) -> int:
    return figure.start


def _words(text: str, found: Iterator[tuple[int, int, int, int]]) -> Iterator[Figure]:
    for start, end, value, tens in found:
        yield Figure(text[start:end], start, end, (_reading(Decimal(value), tens),), "x" * bool(tens))


def _written(text: str, wide: str) -> Iterator[Figure]:
    for match in _FIGURE.finditer(wide):
        readings = _readings(match)
        if readings is not None:
            scale = (match["scale"] or "").lower()
            whole = text[match.start() : match.end()]
            yield Figure(whole, match.start(), match.end(), readings, scale, _listed(match["number"]))


def number_of(reading: str) -> Decimal | None:
    """Return the number that a normal form stands for, None for dates, times and long ids."""
    is_number = len(reading) <= MAX_DIGITS and reading[-1:].isdecimal() and reading.replace(".", "", 1).isdecimal()
    return Decimal(reading) if is_number else None


def normal(number: Decimal) -> str:
    """Return the normal form of a number: no exponent, no zeros at its ends."""
    return f"{number.normalize():f}"


def _listed(number: str | None) -> tuple[str, ...]:
    if not number or "," not in number:
        return ()
    return tuple(_numbers(one, "")[0].form for one in number.split(","))


def _readings(match: re.Match[str]) -> tuple[Reading, ...] | None:
    kind = "number" if match["number"] else match.lastgroup
    text = match[kind].lower() if kind else ""
    match kind:
        case "number":
            return _numbers(text, (match["scale"] or "").lower())
        case "time" | "clock":
            return _times(text)
        case "dotted":
            return (Reading(text),)
        case "placeholder" | None:
            return (Reading(text),) if _PLACEHOLDER.fullmatch(match[0]) else None
        case _:
            return _dates(kind, text)


@lru_cache(maxsize=4096)
def _numbers(text: str, scale: str) -> tuple[Reading, ...]:
    """Read a number. A comma groups digits or begins decimals; a scale belongs to the number or to what follows."""
    if len(text) > MAX_DIGITS:
        return (Reading(text),)
    values = [Decimal(form) for form in _decimal_forms(text)]
    tens = _TENS.get(scale, 0)
    scaled = [_reading(value, tens) for value in values if tens]
    return (*(_reading(value) for value in values if not (tens > 0 and value <= MOST_COUNTED)), *scaled)


def _reading(value: Decimal, tens: int = 0) -> Reading:
    exponent = value.as_tuple().exponent
    last_digit = Decimal(1).scaleb(int(exponent) + tens)
    return Reading(normal(value.scaleb(tens)), last_digit)


def _decimal_forms(text: str) -> tuple[str, ...]:
    """Return a number with a decimal point, as it may be meant: 12,5 has decimals, 12,500 may have."""
    head, comma, tail = text.rpartition(",")
    if not comma and _GROUPED.fullmatch(text):  # as Germans write it
        return (text, text.replace(".", ""))
    if not comma or "," in head or "." in tail:
        return (re.sub(r"[,'\u00a0\u202f]", "", text),)
    decimals = f"{head.replace('.', '')}.{tail}"
    return (f"{head}{tail}", decimals) if len(tail) == GROUP and "." not in head else (decimals,)


def _times(text: str) -> tuple[Reading, ...]:
    """Read a time of the day; seconds need not be said."""
    hour, *rest = _DIGITS.findall(text)
    is_afternoon, is_morning = "p" in text, "a" in text
    hours = int(hour) % 12 + 12 * is_afternoon if is_afternoon or is_morning else int(hour)
    minutes = rest[0] if rest else "00"
    short = f"{hours:02}:{minutes}"
    return (Reading(f"{short}:{rest[1]}"), Reading(short)) if len(rest) > 1 else (Reading(short),)


def _dates(kind: str, text: str) -> tuple[Reading, ...]:
    """Read a date; where day and month could be each other, in both ways."""
    *_, last = numbers = [int(digits) for digits in _DIGITS.findall(text)]
    match kind:
        case "iso" | "chinese":
            year, pairs = numbers[:-2], [(numbers[-2], last)]
        case "short":
            year, pairs = numbers[2:], [(numbers[1], numbers[0]), (numbers[0], numbers[1])]
        case _:
            year, pairs = numbers[1:], [(_month_in(text), numbers[0])]
    years = [one + CENTURY if one < 100 else one for one in year]  # noqa: PLR2004 - two digits
    real = [(month, day) for month, day in pairs if 1 <= month <= len(_MONTHS) and 1 <= day <= MAX_DAY]
    forms = [_date_form(years, month, day) for month, day in real]
    verb = (str(numbers[0]),) if "may" in text and not years else ()
    return tuple(map(Reading, (*dict.fromkeys(forms), *verb))) or (Reading(text),)


def _month_in(text: str) -> int:
    return next(place for place, name in enumerate(_MONTHS, 1) if name in text)


def _date_form(years: list[int], month: int, day: int) -> str:
    return f"{years[0]}-{month:02}-{day:02}" if years else f"-{month:02}-{day:02}"
