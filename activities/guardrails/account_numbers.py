"""Payment cards and IBANs in a text."""

import re
from collections.abc import Iterator

from activities.guardrails.number_places import Place, confirmed, shorter

_GAP = r"(?:[ -]|[ \t-]?\r?\n[ \t]?)?"
_CARD = re.compile(rf"(?a)(?<![\w.])(?<![0-9]-)[2-6][0-9]{{3}}(?:{_GAP}[0-9]){{9,15}}(?![\w]|[.-][0-9])")
_DOTTED = re.compile(
    r"(?a)(?<![\w.])(?<![0-9]-)(?:[2-6][0-9]{3}(?P<sign>[._])[0-9]{4}(?P=sign)[0-9]{4}(?P=sign)[0-9]{4}"
    r"|3[47][0-9]{2}(?P<other>[._])[0-9]{6}(?P=other)[0-9]{5})(?!\w|[.-][0-9])"
)
_FOURS = re.compile(r"[0-9]{4}(?:\s+[0-9]{4}){3}")
_WORD = re.compile(r"(?i)(?<!<)card|karte|carte|tarjeta|carta|visa|amex|\bcc\b|卡")
_NUMBER_ABOVE = re.compile(r"(?:\A|\n)[ \t]*[0-9]{1,6}[ \t]*\r?\n[ \t]*\Z")
_NUMBER_BELOW = re.compile(r"[ \t]*\r?\n[ \t]*[0-9]{1,6}[ \t]*(?:\r?\n|\Z)")
_NEAR = 40
_SIGNS = " -\n"
_ISSUERS = re.compile(
    r"(?a)4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|4[4-9]\d|5\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
    r"|(?:50|5[6-9]|6[0-9])\d{14}"
)
"""Beginnings and lengths that issuers have: Visa, Mastercard, Amex, Diners, Discover, JCB, UnionPay, Maestro."""
_IBAN = re.compile(rf"(?ai)(?<![a-z0-9])[a-z]{{2}}[0-9]{{2}}(?:{_GAP}[a-z0-9]){{11,30}}(?![a-z0-9])")


def find_cards(text: str, start: int, end: int) -> Iterator[Place]:
    """Return where the card numbers in a part of a text are: an issuer's beginning and length, and a Luhn digit."""

    def cards(start: int, end: int) -> Iterator[Place]:
        # What stands in one line comes first: the next line may begin with another number.
        places = sorted(shorter(text, start, end, _SIGNS), key=lambda place: "\n" in text[slice(*place)])
        return (place for place in places if _is_card(text[slice(*place)]) and _is_one(text, *place))

    yield from confirmed(_CARD, text, start, end, cards)
    yield from (match.span() for match in _DOTTED.finditer(text, start, end) if _is_card(match[0]))


def find_ibans(text: str, start: int, end: int) -> Iterator[Place]:
    """Return where the IBANs in a part of a text are: with a length and check digits as their country has them."""
    from stdnum import iban  # noqa: PLC0415 - it loads slowly, and most processes meet no such number

    def ibans(start: int, end: int) -> Iterator[Place]:
        places = shorter(text, start, end, _SIGNS)
        return (place for place in places if iban.is_valid(re.sub(r"[\s-]", "", text[slice(*place)])))

    return confirmed(_IBAN, text, start, end, ibans)


def _is_card(number: str) -> bool:
    from stdnum import luhn  # noqa: PLC0415 - as above

    digits = re.sub("[^0-9]", "", number)
    return bool(_ISSUERS.fullmatch(digits)) and luhn.is_valid(digits)


def _is_one(text: str, start: int, end: int) -> bool:
    """Return whether a number is one though lines end in it: they may be a column of numbers."""
    number = text[start:end]
    if "\n" not in number or _WORD.search(text, max(0, start - _NEAR), start):
        return True
    is_column = _NUMBER_ABOVE.search(text, max(0, start - _NEAR), start) or _NUMBER_BELOW.match(text, end)
    return bool(_FOURS.fullmatch(number)) and not is_column
