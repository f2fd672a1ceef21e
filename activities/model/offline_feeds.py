"""Feeds: which tool's result, or which literal, can fill a parameter."""

import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from harness.binding import parameter_schema, read_literal
from harness.catalog import JsonSchema, ToolSpec
from harness.json_schema import mismatch
from harness.schema_fit import cannot_fit, takes_only_text

_NOISE = frozenset(
    {
        *("get", "fetch", "list", "read", "query", "find", "load", "search", "lookup", "collect", "compute", "make"),
        *("build", "show", "the", "a", "an", "of", "for", "node", "tool", "all", "data"),
    }
)
"""Words of a name that say nothing about what a tool gives."""
_SAYING = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties"})
"""Keywords that restrict what a schema takes."""


def similarity(parameter: str, schema: JsonSchema, tool: ToolSpec) -> float:
    """Return how much a tool's name and result type speak for a parameter; 0 when nothing does."""
    wanted, offered = _tokens(parameter), _tokens(tool.name)
    shared = len(wanted & offered)
    name_score = 4 * shared / len(wanted | offered) if shared else 0.0
    type_name = _type_name(schema)
    return name_score + (2.0 if type_name and type_name == _type_name(tool.result) else 0.0)


def fits(tool: ToolSpec, schema: JsonSchema) -> bool:
    """Return whether a tool's result may be a value of a schema."""
    return cannot_fit(tool.result, schema) is None


def item_schema(schema: JsonSchema) -> JsonSchema | None:
    """Return the schema of the items when a parameter takes a list, else None."""
    if schema.get("type") != "array":
        return None
    items = schema.get("items")
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {**items, **definitions} if isinstance(items, dict) else definitions


def is_untyped(schema: JsonSchema) -> bool:
    """Return whether a schema takes anything."""
    return not _SAYING & resolved(schema).keys()


def resolved(schema: JsonSchema) -> JsonSchema:
    """Return what a schema refers to when it is a reference, with the definitions."""
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not isinstance(definitions, dict):
        return schema
    target = definitions.get(reference.rpartition("/")[2])
    return {**target, "$defs": definitions} if isinstance(target, dict) else schema


def literal_for(tool: ToolSpec, parameter: str, goal: str) -> str | None:
    """Return the literal that a goal gives for a parameter, or None when it gives none: nothing is made up."""
    schema = resolved(parameter_schema(tool, parameter))
    return next((text for text in _literals(schema, goal) if _is_allowed(text, schema)), None)


def _literals(schema: JsonSchema, goal: str) -> Iterator[str]:
    is_text = takes_only_text(schema)
    choices = schema.get("enum")
    if isinstance(choices, list):
        texts = [choice if isinstance(choice, str) else str(choice) for choice in choices]
        yield from (text for text in texts if text.lower() in goal.lower())
        return
    if is_text:
        yield goal
        return
    if {"integer", "number"} & set(_types(schema)):
        yield from re.findall(r"\d+(?:\.\d+)?", goal)


def _is_allowed(text: str, schema: JsonSchema) -> bool:
    try:
        return mismatch(read_literal(text, schema), schema) is None and bool(text.strip())
    except ValueError:
        return False


def _types(schema: JsonSchema) -> Iterable[JsonValue]:
    types = schema.get("type")
    return types if isinstance(types, list) else [types]


def _type_name(schema: JsonSchema) -> str:
    """Return the name of the class behind a schema or its items, empty when it has none."""
    items = schema.get("items")
    inner = items if isinstance(items, dict) else schema
    reference = inner.get("$ref")
    title = inner.get("title")
    if isinstance(reference, str):
        return reference.rpartition("/")[2]
    return title if isinstance(title, str) and inner.get("type") == "object" else ""


def _tokens(name: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", name).lower().split()
    return frozenset(_singular(word) for word in spaced if word not in _NOISE)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "ties" is not "ty"
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
