"""Phone numbers in a text: international ones, and national ones that are written as phone numbers are."""

import re
from collections.abc import Iterator
from functools import lru_cache, partial

from activities.guardrails.number_places import Place, confirmed, shorter

MAX_SEARCHED = 16_384
"""Characters of the longest text in all of which a word for a phone number is looked for."""
_BREAK = r"[ \t-]?\r?\n[ \t]?"
_EXTENSION = r"(?: ?(?:[Xx]|[Ee]xt\.?|[Ee]xtension) ?[0-9]{1,6})?"
_INTERNATIONAL = re.compile(
    rf"(?a)(?<![\w+])(?:\+|00)[ (]?[1-9](?:(?:[ ().\-/]{{0,3}}|{_BREAK})[0-9]){{6,14}}{_EXTENSION}(?!\w)"
)
_NANP = re.compile(
    r"(?a)(?<![\w.+/-])(?:1[ .-])?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[.-])"
    rf"[2-9][0-9]{{2}}(?:[ .-]|{_BREAK})[0-9]{{4}}{_EXTENSION}(?!\w|[.-][0-9])"
)
_TRUNK = re.compile(
    r"(?a)(?<![\w.+/-])(?:\(0[0-9]{1,5}\)[ /-]?|0[0-9]{1,5}[ /-])[0-9]{2,8}(?:[ -][0-9]{2,5}){0,3}(?!\w|[.,:-][0-9])"
)
_PAIRS = re.compile(r"(?a)(?<![\w.+/-])0[1-9](?:\.[0-9]{2}){4}(?!\w|[.-][0-9])")
_AREA = re.compile(r"(?a)(?<![\w.+/-])\([1-9][0-9]{1,3}\) ?[0-9]{4,5}[ -][0-9]{4}(?!\w|[.-][0-9])")
_CN_MOBILE = re.compile(r"(?a)(?<![\w.+/-])1[3-9][0-9](?:[ -]?[0-9]{4}){2}(?![\w]|[.-][0-9])")
_LABELLED = re.compile(r"(?a)(?<![\w.+/-])[(0-9](?:[ ().\-/]{0,2}[0-9]){6,14}(?!\w|[.-][0-9])")
_FORMS = (
    (_NANP, ("US",)),
    (_CN_MOBILE, ("CN",)),
    (_PAIRS, ("FR",)),
    (_TRUNK, ("GB", "DE", "FR", "IT", "NL", "JP", "AU", "CN", "CH", "AT", "BE", "IN", "KR", "SE", "NZ", "ZA")),
    (_AREA, ("BR", "MX", "RU")),
)
"""How numbers are written at home, and in which regions so."""
_WORD = re.compile(
    r"(?ai)phone|\btele?\b|tél|mobile?\b|\bcell|fax|whatsapp|handy|rufnummer|telefon|tel[eé]fono|m[oó]vil|telefone|celular"
    r"|\bmy (?:new |work |home |private )?number\b|\b(?:call|reach|text) (?:me|us|him|her|them) (?:at|on|under)\b"
    r"|电话|手机|座机|联系方式|我的号码|携帯|電話"
)
_LABEL = re.compile(rf"(?ai)(?:{_WORD.pattern.removeprefix('(?ai)')})[^0-9\n]{{0,20}}$")
_OTHER = re.compile(
    r"(?ai)(?:order|invoice|ticket|\bref\w*|sku|isbn|issn|build|version|serial|tracking|article|item|part|model|commit"
    r"|timestamp|订单|单号|编号|#|№)[^\w\n]{0,3}(?:no|nr|num|number|id|号)?[^\w\n]{0,3}$"
)
_NEAR = 40


def names_phones(text: str, label: str = "") -> bool:
    """Return whether a text, or the key under which it stands, may have a word for a phone number."""
    return len(text) > MAX_SEARCHED or bool(_WORD.search(text) or _WORD.search(label))


def find_phones(text: str, start: int, end: int, label: str = "", *, has_word: bool = True) -> Iterator[Place]:
    """Return where the phone numbers in a part of a text are.

    Args:
        text: The whole text.
        start: Where the part begins.
        end: Where it ends.
        label: The key under which the text stands.
        has_word: Whether the text or the key has a word for a phone number, which may make any number one.
    """
    yield from confirmed(_INTERNATIONAL, text, start, end, partial(_international, text))
    for pattern, regions in _FORMS:
        for match in pattern.finditer(text, start, end):
            if not _is_other(text, match.start(), label) and _is_national(match[0], regions):
                yield match.span()
    for match in _LABELLED.finditer(text, start, end) if has_word else ():
        if _is_labelled(text, match.start(), label):
            yield match.span()


def _international(text: str, start: int, end: int) -> Iterator[Place]:
    """Return places of a number, the likeliest first: a line ends in it only if it is none of its country else."""
    places = list(shorter(text, start, end, " -/.(\n"))
    unbroken = [place for place in places if "\n" not in text[slice(*place)]]
    for some in (unbroken, places):
        yield from (place for place in some if _is_valid(text[slice(*place)]))
    yield from (place for place in unbroken if _is_possible(text[slice(*place)]))


def _is_labelled(text: str, place: int, label: str) -> bool:
    return bool(_LABEL.search(text[max(0, place - _NEAR) : place]) or _LABEL.search(label))


def _is_other(text: str, place: int, label: str) -> bool:
    return bool(_OTHER.search(text[max(0, place - _NEAR) : place]) or _OTHER.search(label.replace("_", " ")))


@lru_cache(maxsize=4096)
def _is_valid(number: str) -> bool:
    """Return whether a number is one of its country."""
    import phonenumbers  # noqa: PLC0415 - it loads slowly, and most processes meet no such number

    plain = " ".join(number.split())
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(plain if plain[0] == "+" else f"+{plain[2:]}"))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=4096)
def _is_possible(number: str) -> bool:
    """Return whether a number is long enough for its country, and written in groups."""
    import phonenumbers  # noqa: PLC0415 - as above

    if not number.startswith("+") or number[1:].isdigit():
        return False
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=4096)
def _is_national(number: str, regions: tuple[str, ...]) -> bool:
    import phonenumbers  # noqa: PLC0415 - as above

    for region in regions:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(" ".join(number.split()), region)):
                return True
        except phonenumbers.NumberParseException:
            return False
    return False
