"""Idioms: figures of an answer that say nothing that could be wrong, or that add up to one that is known."""

import re
from collections.abc import Callable, Iterator

_IDIOM = re.compile(
    r"\b24/7(?:/365)?\b|\b(?:4|8)k(?= ?-?(?:textures?|resolution|videos?|uhd|displays?|graphics|monitors?|"
    r"tvs?|screens?|"
    r"gaming|ultra|images?|movies?|films?|hdr|quality|footage|at\b))|\b(?:365|366) days (?:a|per|each|every) year|"
    r"\b365 days\b(?=[.,;]|$)|\b24 hours a day|24 stunden am tag|365 tage im jahr|\b(?:seven|7) days a week|"
    r"\b(?:in|under) (?:30|60|90) seconds|\b\d{1,2}(?:st|nd|rd|th)[- ]centur(?:y|ies)|\b\d{1,2}\. jahrhundert|"
    r"\d{1,2} ?世纪|\b50/50\b|\b20/20\b|\b100 ?%(?! ?(?:off|discount|of|increase|rise|more|rabatt|growth|up))|"
    r"\b(?:360|180) ?°|"
    r"全年365天|7x24|7×24|\b(?:1080|720|1440|2160)p\b",  # noqa: RUF001 - as it is written
    re.IGNORECASE,
)
_HOURS = re.compile(
    r"\b(?P<hours>\d{1,3}|an?|one|two|three|four|five) ?(?:h|hours?|hrs?|std\.?|stunden?)\b,? ?(?:and |und )?"
    r"(?P<minutes>\d{1,2}) ?(?:m|min(?:ute[ns]?)?s?)\b|(?P<hour>\d{1,3}) ?个?小时 ?(?P<minute>\d{1,2}) ?分",
    re.IGNORECASE,
)
_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_HOUR = 60


def idle_spans(answer: str, is_known: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Yield where figures of an answer need no source of their own.

    Args:
        answer: The text.
        is_known: Says whether a number is known: hours and minutes are good when their minutes or seconds are.
    """
    for match in _IDIOM.finditer(answer):
        yield match.span()
    for match in _HOURS.finditer(answer):
        hours = match["hours"] or match["hour"]
        minutes = _HOUR * (int(hours) if hours.isdecimal() else _WORDS[hours.lower()])
        minutes += int(match["minutes"] or match["minute"])
        if is_known(minutes) or is_known(minutes * 60):
            yield match.span()
