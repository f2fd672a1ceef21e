"""Whether what one schema promises can ever satisfy another, and which schema a part of a value has.

The answers are proofs: "cannot" is said only when it is certain, an empty array aside, which fits arrays of anything.
Work is bounded; where a bound is reached the schema is read as allowing everything.
"""

from enum import StrEnum

from pydantic import JsonValue

from harness import schema_keywords as keywords
from harness.catalog import JsonSchema
from harness.errors import listed, quoted
from harness.json_pointer import PointerError, array_index, join_pointer, parse_pointer
from harness.json_schema import mismatch
from harness.schema_keywords import field_names

MAX_DEPTH = 16
MAX_STEPS = 2_000
MAX_ALTERNATIVES = 64
MAX_ITEMS = 8
"""Items of an array that are compared one by one."""

Alternative = tuple[JsonSchema, ...]
"""Schemas of which each must fit by its own keywords."""


class TextShare(StrEnum):
    """Which values of a schema are strings."""

    ALL = "ALL"
    SOME = "SOME"
    """Perhaps all or none: it cannot be told."""
    NONE = "NONE"
    """Certainly none: `mismatch` refuses every string."""


def cannot_fit(source: JsonSchema, target: JsonSchema) -> str | None:
    """Return why no value of the source schema satisfies the target schema, or None when one may."""
    return _Comparison(source, target).clash(source, target, ())


def schema_at(schema: JsonSchema, path: str) -> JsonSchema:
    """Return the schema of the part of a value that a JSON pointer names; an empty one when it is unknown.

    Raises:
        PointerError: when the pointer is malformed or no value of the schema has that part.
    """
    document = _Document(schema)
    parts = parse_pointer(path)
    here: JsonValue = schema
    for depth, part in enumerate(parts):
        inside = document.child(here, part)
        if inside is False:
            where = f"at {quoted(join_pointer(parts[:depth]))}" if depth else "at the top"
            raise PointerError(f"there is no {quoted(part)} {where}: {document.contents(here)}")
        here = inside
    return keywords.with_definitions(here, schema) if isinstance(here, dict) else {}


def takes_only_text(schema: JsonSchema) -> bool:
    """Return whether every value that a schema allows is a string, null aside."""
    return text_share(schema) is TextShare.ALL


def text_share(schema: JsonSchema) -> TextShare:
    """Return which of the values that a schema allows are strings, null aside."""
    types = [_common_types(alternative) - {"null"} for alternative in _Document(schema).alternatives(schema)]
    if not any("string" in each for each in types):
        return TextShare.NONE
    return TextShare.ALL if {"string"} in types and all(each <= {"string"} for each in types) else TextShare.SOME


def has_like_items(schema: JsonSchema, count: int | None = None) -> bool:
    """Return whether the first `count` items of an array of a schema, or all, have one and the same schema."""
    parts = [part for alternative in _Document(schema).alternatives(schema) for part in alternative]
    has_items = _Document(schema).child(schema, "0") is not False
    return has_items and all(keywords.treats_alike(part, count) for part in parts)


class _Document:
    """A schema with its definitions."""

    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        self._steps_left = MAX_STEPS

    def alternatives(self, schema: JsonValue, seen: tuple[str, ...] = (), depth: int = 0) -> list[Alternative]:
        """Return a list of alternatives, one of which every value of the schema satisfies."""
        self._steps_left -= 1
        if schema is False:
            return []
        if not isinstance(schema, dict) or self._steps_left < 0 or depth > MAX_DEPTH:
            return [()]
        found: list[Alternative] = [(schema,)]
        if not keywords.refers_to_schemas(schema):
            return found
        target = keywords.referenced(self.root, schema)
        if target and target[0] not in seen:
            found = _both(found, self.alternatives(target[1], (*seen, target[0]), depth + 1))
        for part in keywords.all_of(schema):
            found = _both(found, self.alternatives(part, seen, depth + 1))
        for group in keywords.option_groups(schema):
            options = [each for option in group for each in self.alternatives(option, seen, depth + 1)]
            found = _both(found, options)
        return found

    def child(self, schema: JsonValue, part: str) -> JsonValue:
        """Return the schema of a field or item; False when no value has it."""
        return _either([_child(alternative, part) for alternative in self.alternatives(schema)])

    def contents(self, schema: JsonValue) -> str:
        """Say what there is instead of a part that does not exist."""
        parts = [part for alternative in self.alternatives(schema) for part in alternative]
        names = [name for part in parts for name in field_names(part)]
        if names:
            return f"its fields are {listed(dict.fromkeys(names))}"
        return f"the value there is {keywords.describe(schema)}"


class _Comparison:
    """Proves, within a bounded number of steps, that two schemas have no value in common."""

    def __init__(self, source: JsonSchema, target: JsonSchema) -> None:
        self._source = _Document(source)
        self._target = _Document(target)
        self._steps_left = MAX_STEPS

    def clash(self, source: JsonValue, target: JsonValue, path: tuple[str, ...]) -> str | None:
        """Return a reason, or None when a value may satisfy both."""
        clashes: list[str] = []
        targets = self._target.alternatives(target)
        for left in self._source.alternatives(source):
            for right in targets:
                self._steps_left -= 1
                found = self._clash_of(left, right, path) if self._steps_left > 0 and len(path) < MAX_DEPTH else None
                if found is None:
                    return None
                clashes.append(found)
        if len(clashes) == 1:
            return clashes[0]
        return _at(path, f"{keywords.describe(source)} where {keywords.describe(target)} is needed")

    def _clash_of(self, source: Alternative, target: Alternative, path: tuple[str, ...]) -> str | None:
        pairs = ((left, right) for left in source for right in target)
        return next(filter(None, (self._clash_of_keywords(*pair, path) for pair in pairs)), None)

    def _clash_of_keywords(self, source: JsonSchema, target: JsonSchema, path: tuple[str, ...]) -> str | None:
        common = keywords.allowed_types(source) & keywords.allowed_types(target)
        if not common:
            return _at(path, f"{keywords.describe(source)} where {keywords.describe(target)} is needed")
        clash = self._clash_of_values(source, target) or _clash_of_sizes(source, target, common)
        if clash:
            return _at(path, clash)
        if common == {"object"}:
            return self._clash_of_fields(source, target, path)
        return self._clash_of_items(source, target, path) if common == {"array"} else None

    def _clash_of_values(self, source: JsonSchema, target: JsonSchema) -> str | None:
        offered, wanted = keywords.fixed_values(source), keywords.fixed_values(target)
        fits_nowhere = _misses_all(offered, target, self._target.root) or _misses_all(wanted, source, self._source.root)
        return f"{keywords.describe(source)} where {keywords.describe(target)} is needed" if fits_nowhere else None

    def _clash_of_fields(self, source: JsonSchema, target: JsonSchema, path: tuple[str, ...]) -> str | None:
        for name in dict.fromkeys((*keywords.required_fields(target), *keywords.required_fields(source))):
            offered, wanted = keywords.field_schema(source, name), keywords.field_schema(target, name)
            if offered is False:
                return _at(path, f"it lacks the field {quoted(name)}; its fields are {listed(field_names(source))}")
            if wanted is False:
                return _at(path, f"its field {quoted(name)} is not allowed; allowed are {listed(field_names(target))}")
            clash = self.clash(offered, wanted, (*path, name))
            if clash:
                return clash
        return None

    def _clash_of_items(self, source: JsonSchema, target: JsonSchema, path: tuple[str, ...]) -> str | None:
        least = max(keywords.number(source, "minItems") or 0, keywords.number(target, "minItems") or 0)
        for index in range(int(min(max(least, 1), MAX_ITEMS))):
            offered, wanted = keywords.item_schema(source, index), keywords.item_schema(target, index)
            if offered is False or wanted is False:
                return None
            clash = self.clash(offered, wanted, (*path, str(index)))
            if clash:
                return clash
        return None


def _both(left: list[Alternative], right: list[Alternative]) -> list[Alternative]:
    """Combine alternatives that must hold together; if they are too many, drop the right, which only allows more."""
    if len(left) * len(right) > MAX_ALTERNATIVES:
        return left
    return [(*one, *other) for one in left for other in right]


def _common_types(alternative: Alternative) -> frozenset[str]:
    return keywords.TYPES.intersection(*map(keywords.allowed_types, alternative))


def _child(alternative: Alternative, part: str) -> JsonValue:
    """Return the schema of a field or item of values of one alternative; False when none has it."""
    types = _common_types(alternative)
    index = array_index(part)
    options: list[JsonValue] = []
    if "object" in types:
        options.append(_every([keywords.field_schema(schema, part) for schema in alternative]))
    if "array" in types and index is not None:
        options.append(_every([keywords.item_schema(schema, index) for schema in alternative]))
    return _either(options)


def _either(schemas: list[JsonValue]) -> JsonValue:
    """Return a schema of what at least one of these allows."""
    possible = [schema for schema in schemas if schema is not False]
    if len(possible) <= 1:
        return possible[0] if possible else False
    return {"anyOf": possible} if all(isinstance(schema, dict) for schema in possible) else True


def _every(schemas: list[JsonValue]) -> JsonValue:
    """Return a schema of what all of these allow."""
    if any(schema is False for schema in schemas):
        return False
    real = [schema for schema in schemas if isinstance(schema, dict)]
    if len(real) <= 1:
        return real[0] if real else True
    return {"allOf": [*real]}


def _misses_all(values: list[JsonValue] | None, schema: JsonSchema, root: JsonSchema) -> bool:
    if values is None:
        return False
    whole = keywords.with_definitions(schema, root)
    return all(mismatch(value, whole) for value in values)


def _clash_of_sizes(source: JsonSchema, target: JsonSchema, common: frozenset[str]) -> str | None:
    ranges = [("minimum", "maximum", "")] if common <= {"integer", "number"} else []
    ranges += [keywords.SIZES[kind] for kind in common if common == {kind} and kind in keywords.SIZES]
    for least_keyword, most_keyword, unit in ranges:
        for one, other in ((source, target), (target, source)):
            least, most = keywords.number(one, least_keyword), keywords.number(other, most_keyword)
            if least is not None and most is not None and least > most:
                return f"at least {least} {unit} on one side, at most {most} {unit} on the other"
    return None


def _at(path: tuple[str, ...], text: str) -> str:
    return f"at {quoted(join_pointer(path))}: {text}" if path else text
