"""The shape of a JSON schema, as a model that must fill it in meets it: how deep, how many forms, how open."""

from collections.abc import Iterator

from pydantic import JsonValue

from harness.catalog import JsonSchema
from harness.schema_keywords import all_of, fixed_values, option_groups, referenced, type_names

_DEEPEST_LOOK = 20
"""Schemas inside one another that are looked at where only what they stand for counts."""


def object_levels(root: JsonSchema, schema: JsonValue, most: int) -> int:
    """Return how many objects a schema has inside one another, at most `most`; lists of objects count as objects."""
    return max((level for level, each in _inside(root, schema, most) if _says_object(each)), default=0)


def has_object_union(root: JsonSchema, schema: JsonValue, most: int) -> bool:
    """Return whether a value, or one inside it, may be one of several objects; look `most` objects deep."""
    return any(
        sum(is_object(root, option) for option in options) > 1
        for _, each in _inside(root, schema, most)
        for options in option_groups(each)
    )


def is_object(root: JsonSchema, schema: JsonValue) -> bool:
    """Return whether a schema speaks of an object."""
    target = target_of(root, schema)
    return isinstance(target, dict) and _says_object(target)


def is_untyped(root: JsonSchema, schema: JsonValue) -> bool:
    """Return whether a schema, or one of its options, leaves open what a value is, or what a list or object holds."""
    return _Openness(root).of(schema, _DEEPEST_LOOK)


def target_of(root: JsonSchema, schema: JsonValue) -> JsonValue:
    """Return what a schema stands for when it is a reference, through any number of them; else itself."""
    for _ in range(_DEEPEST_LOOK):
        found = referenced(root, schema) if isinstance(schema, dict) else None
        if found is None:
            return schema
        schema = found[1]
    return True


def _inside(root: JsonSchema, schema: JsonValue, most: int) -> Iterator[tuple[int, JsonSchema]]:
    """Yield a schema and those inside it, with how many objects each is in, itself included.

    What lies more than `most` objects deep is left out, and none comes twice at one level, so it ends in any case.
    """
    waiting, seen = [(0, schema)], set()
    while waiting:
        around, each = waiting.pop()
        if not isinstance(each, dict) or (around, id(each)) in seen:
            continue
        seen.add((around, id(each)))
        level = around + _says_object(each)
        if level > most:
            continue
        yield level, each
        waiting += [(around, part) for part in _of_same_value(root, each)]
        waiting += [(level, part) for part in (*_items(each), *_fields(each))]


def _of_same_value(root: JsonSchema, schema: JsonSchema) -> Iterator[JsonValue]:
    """Yield the schemas that a schema says something of the same value by."""
    found = referenced(root, schema)
    if found is not None:
        yield found[1]
    yield from all_of(schema)
    for options in option_groups(schema):
        yield from options


def _says_object(schema: JsonSchema) -> bool:
    return "object" in type_names(schema) or "properties" in schema


def _items(schema: JsonSchema) -> list[JsonValue]:
    """Return the schemas of what a list holds."""
    prefix = schema.get("prefixItems")
    return [*(prefix if isinstance(prefix, list) else []), *([schema["items"]] if "items" in schema else [])]


def _fields(schema: JsonSchema) -> list[JsonValue]:
    """Return the schemas of what an object holds; none for fields of which nothing is said."""
    groups = [schema.get("properties"), schema.get("patternProperties")]
    named = [each for group in groups if isinstance(group, dict) for each in group.values()]
    return [*named, *([schema["additionalProperties"]] if schema.get("additionalProperties") else [])]


class _Openness:
    """Finds schemas that leave a type open, and looks at each once, however often it is referred to."""

    def __init__(self, root: JsonSchema) -> None:
        self._root = root
        self._known: dict[int, bool] = {}

    def of(self, schema: JsonValue, deepest: int) -> bool:
        target = target_of(self._root, schema)
        if not isinstance(target, dict):
            return target is not False
        if id(target) not in self._known:
            self._known[id(target)] = False  # for one that is inside itself: what else it holds decides
            self._known[id(target)] = deepest > 0 and self._is_open(target, deepest - 1)
        return self._known[id(target)]

    def _is_open(self, schema: JsonSchema, deepest: int) -> bool:
        if fixed_values(schema) is not None:
            return False
        if names := type_names(schema):
            return ("array" in names and self._holds_open_items(schema, deepest)) or (
                "object" in names and self._holds_open_fields(schema, deepest)
            )
        if parts := all_of(schema):
            return all(self.of(part, deepest) for part in parts)
        options = [option for group in option_groups(schema) for option in group]
        return not options or any(self.of(option, deepest) for option in options)

    def _holds_open_items(self, schema: JsonSchema, deepest: int) -> bool:
        return not _items(schema) or any(self.of(each, deepest) for each in _items(schema))

    def _holds_open_fields(self, schema: JsonSchema, deepest: int) -> bool:
        """Return whether an object declares no field by name, and nothing of the others."""
        if schema.get("properties") or schema.get("additionalProperties") is False:
            return False
        return not _fields(schema) or any(self.of(each, deepest) for each in _fields(schema))
