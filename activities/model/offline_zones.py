"""Time zones that a goal speaks of, by their names or by the cities that they are named after."""

import re
from collections.abc import Mapping
from functools import cache
from zoneinfo import available_timezones

_AREAS = frozenset({"Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"})
_PARAMETER = re.compile(r"(?i:time_?zone)$|(?:^|[_-])(?i:tz)$|[a-z0-9]T[zZ]$")
_WORDS = re.compile(r"[\w/+-]+")
MOST_WORDS = 3
"""Words of the longest name of a city that is looked for."""


def is_zone_parameter(name: str) -> bool:
    """Return whether a parameter takes the name of a time zone, by its own name: "timezone", "source_tz"."""
    return _PARAMETER.search(name) is not None


def zones_in(text: str) -> list[str]:
    """Return the IANA names of the zones that a text speaks of, in its order: "in Tokyo" gives Asia/Tokyo."""
    words = _WORDS.findall(text)
    found: list[str] = []
    start = 0
    while start < len(words):
        length = next((size for size in range(MOST_WORDS, 0, -1) if _zone(words[start : start + size])), 0)
        if length:
            found.append(_zone(words[start : start + length]))
        start += max(length, 1)
    return found


def _zone(words: list[str]) -> str:
    return _zones().get("_".join(words), "")


@cache
def _zones() -> Mapping[str, str]:
    """Return every zone by its full name and by its city. Cities are written as names, with capital letters."""
    names = sorted(available_timezones())
    cities = {name.rpartition("/")[2]: name for name in reversed(names) if name.partition("/")[0] in _AREAS}
    whole = {name: name for name in names if "/" in name or name in {"GMT", "UTC"}}
    return cities | whole
