"""Feeds: which tool's result can fill a parameter."""

import re

from harness.catalog import JsonSchema, ToolSpec
from harness.schema_fit import cannot_fit

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


def surely_fits(tool: ToolSpec, schema: JsonSchema) -> bool:
    """Return whether the type of a tool's result is one that a schema takes, where both say what they are."""
    offered, wanted = _types(resolved(tool.result)), _types(resolved(schema))
    return not (offered and wanted) or offered <= wanted | ({"integer"} if "number" in wanted else set())


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


def _types(schema: JsonSchema) -> set[str]:
    types = schema.get("type", [])
    return {str(name) for name in (types if isinstance(types, list) else [types])}


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
