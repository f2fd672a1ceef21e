"""Number words in English and Chinese, where a currency or a unit behind them makes them figures."""

# ruff: noqa: RUF001 - Chinese zero is part of it
import re
from collections.abc import Iterator

_ONES = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: place for place, word in enumerate(_ONES, 1)} | {
    word: 10 * place for place, word in enumerate(_TENS, 2)
}
_SCALES = {"": 0, "hundred": 2, "thousand": 3, "million": 6, "billion": 9}
MONEY_BEHIND = r"(?:usd|eur|gbp|cny|rmb|jpy|us\$|dollars?|bucks|euros?|pounds?|cents?|yen|yuan|francs?)\b"
_UNIT_BEHIND = (
    r"(?:hours?|minutes?|seconds?|days?|weeks?|months?|years?|km|kilomet(?:er|re)s?|miles?|kg|percent|per cent)\b"
)
_WORD = re.compile(
    rf"\b(?P<number>(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[:9])}))?|{'|'.join(reversed(_ONES))})\b"
    rf"(?: (?P<hundred>hundred))?(?: (?P<scale>thousand|million|billion))?\b"
    rf"(?=[ -](?P<money>{MONEY_BEHIND})|[ -](?P<unit>{_UNIT_BEHIND}))?",
    re.IGNORECASE,
)
_CHINESE_DIGITS = {char: place for place, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_TENS = {"十": 1, "百": 2, "千": 3}
_CHINESE_SCALES = {"万": 4, "亿": 8}
MONEY_CHINESE = r"(?:美元|欧元|日元|英镑|人民币|元|块)"
_CHINESE = re.compile(
    rf"(?<![\d零〇一二两三四五六七八九十百千万亿])(?P<number>[一二两三四五六七八九十][零〇一二两三四五六七八九十百千万亿]{{0,12}})"
    rf"(?=(?P<money>{MONEY_CHINESE})|(?P<unit>分钟|小时|个小时|公里|公斤|天(?!气|空|然)|周(?!围|边)|个月))"
)


def number_words(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield start, end, digits and powers of ten of the number words of a text that are figures.

    One of something is a figure only where it is money, or one million: one day is any day.
    """
    for match in _WORD.finditer(text):
        exponent = _SCALES[(match["scale"] or "").lower()] + 2 * bool(match["hundred"])
        tens, _, ones = match["number"].lower().replace("-", " ").partition(" ")
        value = _VALUES[tens] + _VALUES.get(ones, 0)
        if match["money"] or match["scale"] or (match["unit"] and value * 10**exponent > 1):
            yield match.start(), match.end(), value, exponent


def chinese_number_words(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield the same for Chinese."""
    for match in _CHINESE.finditer(text):
        value = _chinese_value(match["number"])
        if match["money"] or value > 1:
            yield match.start(), match.end(), value, 0


def _chinese_value(word: str) -> int:
    total, part, digit = 0, 0, 0
    for char in word:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
        elif char in _CHINESE_TENS:
            part, digit = part + (digit or 1) * 10 ** _CHINESE_TENS[char], 0
        else:
            total, part, digit = (total + part + digit) * 10 ** _CHINESE_SCALES[char], 0, 0
    return total + part + digit
