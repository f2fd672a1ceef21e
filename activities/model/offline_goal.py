"""What a goal says that a parameter may take: values by name, numbers, quotes, places, dates, addresses."""

import re
from collections.abc import Iterator
from functools import cached_property

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?|(?<=[-$€£])\d+(?:,\d{3})*(?:\.\d+)?")
_PROPER = r"[A-Z][\w'\u2019.-]*\w(?: (?:(?:de|la|of|the|du|am|an der) )?[A-Z][\w'\u2019-]*)*"
_AFTER = re.compile(rf"\b(in|at|for|of|from|to|near|about|with|by|between|on|and)\s+({_PROPER})")
_BEFORE_LIST = r"(?:of|for|in|on|about|between|compare)\b"
_LISTED = re.compile(rf"(?::|\b{_BEFORE_LIST})\s*([^.;:?!\n]+?)(?=\s+{_BEFORE_LIST}|[.;:?!\n]|$)")
_STARTING = frozenset({"from", "origin", "source", "start", "departure"})
_ENDING = frozenset({"to", "destination", "target", "end", "arrival"})
_DATE = r"\d{4}-\d\d-\d\d"
_TIME = r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)"
FORMATS = {
    "date": re.compile(rf"\b{_DATE}\b"),
    "date-time": re.compile(rf"\b{_DATE}[T ]{_TIME}{_ZONE}?"),
    "time": re.compile(rf"\b{_TIME}{_ZONE}?"),
    "duration": re.compile(r"\bP(?=\w)(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?\b"),
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "uri": re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>,]*[^\s'\"<>,.;:!?)]"),
    "uuid": re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    "ipv4": re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
}
"""How a text of each JSON schema format looks."""


class Goal:
    """A goal, read for what its words may be arguments of."""

    def __init__(self, text: str) -> None:
        """Read a goal."""
        self.text = text

    def named(self, name: str) -> Iterator[str]:
        """Yield what the goal gives by the name of a parameter: "days: 3", "days=3"."""
        pattern = rf"\b{_words(name)}\s*(?:=|:|\bis\b)\s*(\[[^\]\n]*\]|\{{[^\n]*\}}|\"[^\"\n]*\"|'[^'\n]*'|[^,;\n]+)"
        for found in re.finditer(pattern, self.text, re.IGNORECASE):
            value = found.group(1).strip()
            yield value.strip("\"'") if value[0] in "\"'" else value
            yield re.split(r"\s+(?:and|with|then)\b|[.!?](?:\s|$)", value)[0].strip()
            yield value.split()[0].rstrip(".!?")

    def counted(self, name: str) -> Iterator[str]:
        """Yield how many the goal says of what a parameter is named after: "3 days"."""
        for found in re.finditer(rf"({_NUMBER.pattern})\s+{_words(name)}s?\b", self.text, re.IGNORECASE):
            yield found.group(1).replace(",", "")

    def beside(self, name: str) -> Iterator[str]:
        """Yield the number or the proper name that follows the name of a parameter: "city Rome"."""
        for found in re.finditer(rf"\b(?i:{_words(name)})s?\s+(?:of\s+)?({_NUMBER.pattern}|{_PROPER})", self.text):
            yield found.group(1)

    def says(self, name: str) -> bool | None:
        """Return whether the goal asks for what a parameter is named after, or asks to leave it; None for neither."""
        found = re.search(rf"(?:\b(no|not|without|never)\s+(?:\w+\s+)?)?\b{_words(name)}\b", self.text, re.IGNORECASE)
        return None if found is None else not found.group(1)

    @cached_property
    def numbers(self) -> list[str]:
        """Return the numbers in order; those of dates and times are none."""
        dated = re.sub(rf"{_DATE}|{_TIME}", " ", self.text)
        return [number.replace(",", "") for number in _NUMBER.findall(dated)]

    @cached_property
    def quotes(self) -> list[str]:
        """Return what is quoted, in order."""
        return ["".join(groups) for groups in _QUOTED.findall(self.text)]

    @cached_property
    def subjects(self) -> list[str]:
        """Return the proper names that the goal is about, in order: "in Paris", "from Rome"."""
        return [name for _, name in _AFTER.findall(self.text)]

    @cached_property
    def items(self) -> list[str]:
        """Return what the goal lists with commas and "and", in order; empty when it lists nothing."""
        for listed in _LISTED.findall(self.text):
            parts = [part.strip() for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", listed) if part.strip()]
            if len(parts) > 1 and not any(_NUMBER.fullmatch(part) for part in parts):
                return parts
        return []

    def end_of_way(self, name: str) -> str | None:
        """Return from where or to where the goal goes, when that is what a parameter is named after."""
        words = set(re.split(r"[^a-z]+", _spaced(name)))
        wanted = {"from"} if words & _STARTING else {"to"} if words & _ENDING else set()
        return next((place for where, place in _AFTER.findall(self.text) if where in wanted), None)


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", name).strip().lower()


def _words(name: str) -> str:
    """Return a pattern of a parameter's name, as code and as words."""
    return r"[\s_-]*".join(re.escape(word) for word in _spaced(name).split()) or r"(?!)"
