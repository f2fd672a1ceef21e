"""Literals: the value that a goal gives for a parameter, by the parameter's name and schema. Nothing is made up."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

from pydantic import JsonValue

from activities.model.offline_goal import FORMATS, Goal
from activities.model.offline_zones import is_zone_parameter, zones_in
from harness.binding import parameter_schema, read_literal
from harness.catalog import JsonSchema, ToolSpec
from harness.json_schema import mismatch
from harness.schema_fit import takes_only_text
from harness.schema_keywords import (
    field_names,
    field_schema,
    fixed_values,
    option_groups,
    required_fields,
    with_definitions,
)

_NUMBERS = frozenset({"integer", "number"})
_STRINGS = frozenset({"string"})
_ANY_NUMBER: JsonSchema = {"type": "number"}
MAX_DEPTH = 4
"""Levels of objects that are put together from a goal."""
MOST_TRIED = 50
"""Values that are tried for one parameter."""
_WHOLE_GOAL = frozenset(
    {"goal", "question", "instructions", "instruction", "preferences", "task", "request", "prompt", "wishes"}
)
"""Names of parameters that take what was asked for, word for word."""
_FREE_TEXT = frozenset({"query", "search", "text", "message", "content", "topic", "description", "input", "subject"})
"""Names of parameters that take a quote, or else all of the goal."""

_FORMAT_OF = {
    "url": "uri",
    "uri": "uri",
    "link": "uri",
    "email": "email",
    "date": "date",
    "day": "date",
    "time": "time",
}
"""The format of a text, by the last word of its parameter's name."""


class Literals:
    """The literals that one goal gives. What was found once is kept: a planner asks again with each draft."""

    def __init__(self, goal: str) -> None:
        """Read a goal."""
        self._goal = Goal(goal)
        self._any: dict[tuple[str, str], str | None] = {}
        self._named: dict[tuple[str, str], str | None] = {}

    def of(self, tool: ToolSpec, parameter: str) -> str | None:
        """Return the literal for a parameter, or None when the goal gives none."""
        key = tool.name, parameter
        if key not in self._any:
            schema = parameter_schema(tool, parameter)
            value = _value(parameter, schema, _Words(self._goal, tool.parameter_schemas))
            self._any[key] = None if value is None else _as_literal(value, schema)
        return self._any[key]

    def named(self, tool: ToolSpec, parameter: str) -> str | None:
        """Return the literal that the goal gives for a parameter by its name, as in "days: 3" or "3 days", or None."""
        key = tool.name, parameter
        if key not in self._named:
            schema = parameter_schema(tool, parameter)
            texts = [] if parameter.lower() in _WHOLE_GOAL else [*self._goal.named(parameter)]
            counts = [] if takes_only_text(schema) else [*self._goal.counted(parameter)]
            value = _first_fitting(_read(iter(texts + counts), schema), schema)
            self._named[key] = None if value is None else _as_literal(value, schema)
        return self._named[key]


class _Words:
    """A goal, with the parameters that share its words among them."""

    def __init__(self, goal: Goal, schemas: Mapping[str, JsonSchema], depth: int = 0) -> None:
        self.goal = goal
        self.depth = depth
        """Objects that the parameters are fields of, one in another."""
        self._schemas = schemas

    def place(self, name: str, kinds: frozenset[str]) -> int:
        """Return which one a parameter is of those with such types that the goal does not name."""
        alike = [
            other
            for other, schema in self._schemas.items()
            if kinds & _types(schema) and (other == name or not self._is_named(other))
        ]
        return alike.index(name) if name in alike else 0

    def zone_place(self, name: str) -> int:
        """Return which one a parameter is of those that take time zones."""
        return [other for other in self._schemas if is_zone_parameter(other)].index(name)

    def _is_named(self, name: str) -> bool:
        goal = self.goal
        return next(chain(goal.named(name), goal.counted(name), goal.beside(name)), None) is not None


def _value(name: str, schema: JsonSchema, words: _Words) -> JsonValue:
    """Return the value for a parameter; None for none, which is never a value of its own."""
    options = [with_definitions(option, schema) for option in _options(schema)]
    tried = (value for option in options for value in _candidates(name, option, words))
    return _first_fitting(tried, schema)


def _first_fitting(values: Iterator[JsonValue], schema: JsonSchema) -> JsonValue:
    some = islice(values, MOST_TRIED)
    return next((value for value in some if not _is_nothing(value) and mismatch(value, schema) is None), None)


def _is_nothing(value: JsonValue) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _as_literal(value: JsonValue, schema: JsonSchema) -> str:
    return value if isinstance(value, str) and takes_only_text(schema) else json.dumps(value, ensure_ascii=False)


def _options(schema: JsonSchema) -> list[JsonSchema]:
    """Return the schemas that a value may have one of."""
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if isinstance(reference, str) and isinstance(definitions, dict):
        target = definitions.get(reference.rpartition("/")[2])
        return [{**target, "$defs": definitions}] if isinstance(target, dict) else []
    groups = [option for group in option_groups(schema) for option in group if isinstance(option, dict)]
    inner = [{"$defs": definitions, **option} if definitions else option for option in groups]
    return [target for option in inner for target in _options(option)] if inner else [schema]


def _candidates(name: str, schema: JsonSchema, words: _Words) -> Iterator[JsonValue]:
    kinds, goal = _types(schema), words.goal
    choices = fixed_values(schema)
    if name.lower() not in _WHOLE_GOAL:
        yield from _read(goal.named(name), schema)
    if choices is not None:
        yield from _read(chain(goal.counted(name), goal.beside(name)), schema)
        yield from _choices(choices, goal)
    elif "boolean" in kinds:
        yield goal.says(name)
    elif kinds & _NUMBERS:
        others = goal.numbers[words.place(name, _NUMBERS) :] or goal.numbers
        yield from _read(chain(goal.counted(name), goal.beside(name), others, goal.numbers), schema)
    elif "string" in kinds:
        yield from _texts(name, schema, words)
    elif "array" in kinds:
        yield from _lists(schema, goal)
    elif "object" in kinds and words.depth < MAX_DEPTH:
        yield _object(schema, goal, words.depth + 1)


def _read(texts: Iterator[str], schema: JsonSchema) -> Iterator[JsonValue]:
    """Yield texts as the values that they stand for; what stands for none is left out."""
    for text in texts:
        try:
            yield read_literal(text, schema)
        except ValueError:
            continue


def _choices(choices: list[JsonValue], goal: Goal) -> Iterator[JsonValue]:
    """Yield the choices that the goal mentions, those that are words of their own first."""
    texts = [(choice, choice if isinstance(choice, str) else json.dumps(choice)) for choice in choices]
    for choice, text in texts:
        if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", goal.text, re.IGNORECASE):
            yield choice
    yield from (choice for choice, text in texts if text and text.lower() in goal.text.lower())


def _texts(name: str, schema: JsonSchema, words: _Words) -> Iterator[JsonValue]:
    goal, form = words.goal, FORMATS.get(str(schema.get("format")))
    if is_zone_parameter(name):
        yield from zones_in(goal.text)[words.zone_place(name) :][:1]
        return
    if form is not None:
        yield from form.findall(goal.text)[words.place(name, _STRINGS) :] or form.findall(goal.text)
        return
    if usual := FORMATS.get(_FORMAT_OF.get(name.lower().rpartition("_")[2], "")):
        yield from usual.findall(goal.text)
    if name.lower() in _WHOLE_GOAL:
        yield goal.text
    place = words.place(name, _STRINGS)
    yield from goal.quotes[place:] or goal.quotes
    if name.lower() not in _FREE_TEXT:
        yield goal.end_of_way(name)
        yield from goal.beside(name)
    if words.depth == 0 and name.lower() not in _FREE_TEXT:
        yield from goal.subjects[place:] or goal.subjects
    if words.depth == 0:
        yield goal.text
    yield from (word.strip(".,;:!?()") for word in goal.text.split() if "pattern" in schema or "maxLength" in schema)


def _lists(schema: JsonSchema, goal: Goal) -> Iterator[JsonValue]:
    items = schema.get("items")
    kinds = _types(items) if isinstance(items, dict) else frozenset()
    if kinds & _NUMBERS:
        yield list(_read(iter(goal.numbers), _ANY_NUMBER))
    elif "string" in kinds:
        several: list[list[JsonValue]] = [[*goal.quotes], [*goal.items], [*goal.subjects], [goal.text]]
        yield from sorted(several, key=lambda texts: len(texts) < 2)  # noqa: PLR2004 - a list is of several


def _object(schema: JsonSchema, goal: Goal, depth: int) -> JsonValue:
    """Put an object together of what the goal gives for its fields; None when it lacks one that is required."""
    fields = {name: inner for name in field_names(schema) if isinstance(inner := field_schema(schema, name), dict)}
    words, found = _Words(goal, fields, depth), dict[str, JsonValue]()
    for name in required_fields(schema):
        value = _value(name, with_definitions(fields.get(name, {}), schema), words)
        if value is None:
            return None
        found[name] = value
    return found or None


def _types(schema: JsonSchema) -> frozenset[str]:
    types = schema.get("type")
    return frozenset(map(str, types if isinstance(types, list) else [types]))
