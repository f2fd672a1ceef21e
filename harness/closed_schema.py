"""Closed schemas: for what a planner writes out, where an unknown field is a misspelt one."""

from collections.abc import Mapping

from pydantic import JsonValue

from harness.catalog import JsonSchema

MAX_DEPTH = 50
_OF_SCHEMAS = ("items", "additionalProperties")
_BY_NAME = ("properties", "$defs", "definitions")
_IN_LISTS = ("anyOf", "oneOf", "prefixItems")
_OPENING = frozenset({"allOf", "anyOf", "oneOf", "patternProperties", "$ref", "additionalProperties"})
"""Keywords beside `properties` with which an object may have fields that are not listed there."""


def closed(schema: JsonSchema, depth: int = 0) -> JsonSchema:
    """Return a schema in which no object takes fields beyond those that it lists, unless it says that it does.

    JSON schema takes what is not listed for allowed, and a Python model leaves it out in silence.
    """
    if depth > MAX_DEPTH:
        return schema
    found = dict(schema)
    for keyword in _OF_SCHEMAS:
        if keyword in found:
            found[keyword] = _closed(found[keyword], depth)
    for keyword in _BY_NAME:
        inner = found.get(keyword)
        if isinstance(inner, Mapping):
            found[keyword] = {name: _closed(each, depth) for name, each in inner.items()}
    for keyword in _IN_LISTS:
        options = found.get(keyword)
        if isinstance(options, list) and "properties" not in found:
            found[keyword] = [_closed(each, depth) for each in options]
    if "properties" in found and not _OPENING & found.keys():
        found["additionalProperties"] = False
    return found


def _closed(schema: JsonValue, depth: int) -> JsonValue:
    return closed(schema, depth + 1) if isinstance(schema, dict) else schema
