"""Whether a JSON value fits a JSON schema, as far as the rules need to know.

Covers what pydantic generates: $ref into $defs, type, enum, const, anyOf, oneOf, allOf, properties, items, and bounds.
Any other keyword is taken to allow everything. Total on any schema: nesting and work are bounded, and where a bound is
reached the value is taken to fit.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from harness import schema_keywords as keywords
from harness.catalog import JsonSchema
from harness.errors import listed, quoted
from harness.json_pointer import join_pointer

MAX_DEPTH = 64
MAX_STEPS = 20_000
MAX_PATTERN = 200
MAX_MATCHED_TEXT = 100
"""Longer text is matched against patterns by the tool only: a hostile pattern could take for ever."""
MAX_MATCH_STEPS = 10**7
"""A repetition may multiply the steps of a match by the length of the text, an option by two."""
_LIMITING = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern", "required"}).union(
    *(sizes[:2] for sizes in keywords.SIZES.values())
)
"""Keywords that say something of some values of an allowed type."""
_CHARACTER_CLASS = re.compile(r"\[[^\]]*\]")
_REPETITION = re.compile(r"[*+{]")
_OPTION = re.compile(r"(?<!\()\?")
_PLAIN: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
}
_NUMBERS = frozenset({"integer", "number"})
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]{1,20}_[0-9a-f]{8,64}>")
"""What stands for a private value: it may be a number, which the tool alone is given, and checks."""
_REPEATED_GROUP = re.compile(r"\)[*+{?]")


def mismatch(value: JsonValue, schema: JsonSchema) -> str | None:
    """Return the first way in which a value does not fit a schema, or None when it fits as far as can be told."""
    miss = _Matcher(schema).miss(value, schema, _Place())
    if miss is None:
        return None
    return f"at {quoted(join_pointer(miss.path))}: {miss.text}" if miss.path else miss.text


def plain_types(schema: JsonSchema) -> frozenset[type]:
    """Return the Python types of which every value fits a schema; none for one that says more than its type."""
    if keywords.refers_to_schemas(schema) or keywords.fixed_values(schema) is not None:
        return frozenset()
    if not _LIMITING.isdisjoint(schema):
        return frozenset()
    return frozenset(kind for name in keywords.type_names(schema) for kind in _PLAIN.get(name, ()))


@dataclass(frozen=True)
class _Place:
    """Where the matcher is: in the value, and in the schema."""

    path: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """References followed at this value: one that comes again adds nothing."""
    depth: int = 0


@dataclass(frozen=True)
class _Miss:
    path: tuple[str, ...]
    text: str


class _Matcher:
    """Finds the first mismatch within a bounded number of steps."""

    def __init__(self, root: JsonSchema) -> None:
        self._root = root
        self._steps_left = MAX_STEPS

    def miss(self, value: JsonValue, schema: JsonValue, place: _Place) -> _Miss | None:
        self._steps_left -= 1
        if schema is False:
            return _Miss(place.path, "nothing is allowed here")
        if not isinstance(schema, dict) or self._steps_left < 0 or place.depth > MAX_DEPTH:
            return None
        own = _own_mismatch(value, schema)
        if own:
            return _Miss(place.path, own)
        if not keywords.refers_to_schemas(schema) and not isinstance(value, dict | list):
            return None
        deeper = _Place(place.path, place.references, place.depth + 1)
        return (
            self._reference(value, schema, deeper)
            or self._first((value, part, deeper) for part in keywords.all_of(schema))
            or self._options(value, schema, deeper)
            or self._first(_members(value, schema, deeper))
        )

    def _reference(self, value: JsonValue, schema: JsonSchema, place: _Place) -> _Miss | None:
        target = keywords.referenced(self._root, schema)
        if target is None or target[0] in place.references:
            return None
        return self.miss(value, target[1], _Place(place.path, (*place.references, target[0]), place.depth))

    def _options(self, value: JsonValue, schema: JsonSchema, place: _Place) -> _Miss | None:
        for options in keywords.option_groups(schema):
            misses = self._misses_of_all(value, options, place)
            if misses:
                deepest = max(misses, key=lambda miss: len(miss.path))
                if len(deepest.path) > len(place.path):
                    return deepest
                return _Miss(place.path, _expected(keywords.describe({"anyOf": options}), value))
        return None

    def _misses_of_all(self, value: JsonValue, options: list[JsonValue], place: _Place) -> list[_Miss]:
        """Return how the value misses each option; empty when it fits one."""
        misses = []
        for option in options:
            miss = self.miss(value, option, place)
            if miss is None:
                return []
            misses.append(miss)
        return misses

    def _first(self, cases: Iterable[tuple[JsonValue, JsonValue, _Place]]) -> _Miss | None:
        return next(filter(None, (self.miss(*case) for case in cases)), None)


def _members(value: JsonValue, schema: JsonSchema, place: _Place) -> Iterator[tuple[JsonValue, JsonValue, _Place]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield item, keywords.field_schema(schema, name), _Place((*place.path, name), (), place.depth)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield item, keywords.item_schema(schema, index), _Place((*place.path, str(index)), (), place.depth)


def _own_mismatch(value: JsonValue, schema: JsonSchema) -> str | None:
    """Return what the schema's own keywords say against a value; members and other schemas aside."""
    allowed = keywords.type_names(schema)
    if allowed and not keywords.json_types(value) & set(allowed):
        if isinstance(value, str) and not _NUMBERS.isdisjoint(allowed) and _PLACEHOLDER.fullmatch(value):
            return None
        return _expected(" or ".join(allowed), value)
    values = keywords.fixed_values(schema)
    if values is not None and not any(_is_same(value, each) for each in values):
        return _expected(keywords.describe(schema), value)
    return None if _LIMITING.isdisjoint(schema) else _limit_mismatch(value, schema)


def _limit_mismatch(value: JsonValue, schema: JsonSchema) -> str | None:
    match value:
        case str():
            return _size_mismatch(value, "string", schema) or _pattern_mismatch(value, schema)
        case list():
            return _size_mismatch(value, "array", schema)
        case dict():
            return _size_mismatch(value, "object", schema) or _missing_fields(value, schema)
        case int() | float() if not isinstance(value, bool):
            return _bound_mismatch(value, schema)
        case _:
            return None


def _size_mismatch(value: str | list[JsonValue] | dict[str, JsonValue], kind: str, schema: JsonSchema) -> str | None:
    least_keyword, most_keyword, unit = keywords.SIZES[kind]
    least, most = keywords.number(schema, least_keyword), keywords.number(schema, most_keyword)
    if least is not None and len(value) < least:
        return f"expected at least {least} {unit}, got {len(value)}"
    if most is not None and len(value) > most:
        return f"expected at most {most} {unit}, got {len(value)}"
    return None


def _pattern_mismatch(text: str, schema: JsonSchema) -> str | None:
    pattern = schema.get("pattern")
    if not isinstance(pattern, str) or len(text) > MAX_MATCHED_TEXT or not _is_harmless(pattern, len(text)):
        return None
    try:
        found = re.search(pattern, text)
    except (re.error, OverflowError, RecursionError):
        return None
    return None if found else _expected(f"text that matches {quoted(pattern)}", text)


def _is_harmless(pattern: str, length: int) -> bool:
    """Return whether a pattern surely takes little time on a text of such length; no repetition is of a group."""
    if len(pattern) > MAX_PATTERN:
        return False
    plain = _CHARACTER_CLASS.sub("c", pattern)
    steps = max(length, 2) ** len(_REPETITION.findall(plain)) * 2 ** len(_OPTION.findall(plain))
    return steps <= MAX_MATCH_STEPS and not _REPEATED_GROUP.search(plain)


def _missing_fields(value: dict[str, JsonValue], schema: JsonSchema) -> str | None:
    missing = [name for name in keywords.required_fields(schema) if name not in value]
    return f"missing fields: {listed(missing)}" if missing else None


def _bound_mismatch(value: float, schema: JsonSchema) -> str | None:
    least, most = keywords.number(schema, "minimum"), keywords.number(schema, "maximum")
    above, below = keywords.number(schema, "exclusiveMinimum"), keywords.number(schema, "exclusiveMaximum")
    if least is not None and value < least:
        return _expected(f"at least {least}", value)
    if most is not None and value > most:
        return _expected(f"at most {most}", value)
    if above is not None and value <= above:
        return _expected(f"more than {above}", value)
    if below is not None and value >= below:
        return _expected(f"less than {below}", value)
    return None


def _is_same(left: JsonValue, right: JsonValue) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _expected(what: str, value: JsonValue) -> str:
    return f"expected {what}, got {keywords.shown(value)}"
