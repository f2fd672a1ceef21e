"""JSON schema keywords: what each says by itself, and words for what a schema allows.

A schema is a JSON object, or True (allows everything) or False (allows nothing). Anything else is read as True.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from harness.catalog import JsonSchema
from harness.errors import listed, quoted
from harness.json_pointer import PointerError, resolve_pointer

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
SIZES = {
    "string": ("minLength", "maxLength", "characters"),
    "array": ("minItems", "maxItems", "items"),
    "object": ("minProperties", "maxProperties", "fields"),
}
"""Keywords for the least and the most of something, by the type that they apply to."""
_SHOWN = 10
_REFERRING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_NULL, _BOOLEAN, _STRING = frozenset({"null"}), frozenset({"boolean"}), frozenset({"string"})
_NUMBER, _INTEGER = frozenset({"number"}), frozenset({"integer", "number"})
_ARRAY, _OBJECT = frozenset({"array"}), frozenset({"object"})


def describe(schema: JsonValue, depth: int = 2) -> str:
    """Return a few words for what a schema allows, such as "string or null"; look `depth` schemas deep."""
    if schema is False:
        return "nothing"
    if not isinstance(schema, dict):
        return "any value"
    values = fixed_values(schema)
    if values is not None:
        return "one of " + ", ".join(shown(value) for value in values[:_SHOWN]) + (", ..." * (len(values) > _SHOWN))
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return quoted(reference.rpartition("/")[2])
    inside = (all_of(schema), *option_groups(schema)) if depth else ()
    names = type_names(schema) or [describe(each, depth - 1) for group in inside for each in group[:_SHOWN]]
    return " or ".join(dict.fromkeys(names)) or "any value"


def shown(value: JsonValue) -> str:
    """Return a few words for a value."""
    match value:
        case str():
            return quoted(value)
        case list():
            return f"an array of {len(value)} items"
        case dict():
            return f"an object with the fields {listed(value, _SHOWN)}"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() if abs(value) >= 10**30:
            return "a huge integer"
        case _:
            return repr(value)


def json_types(value: JsonValue) -> frozenset[str]:
    """Return the types that a value has: 2 and 2.0 are both integer and number."""
    match value:
        case None:
            return _NULL
        case bool():
            return _BOOLEAN
        case int():
            return _INTEGER
        case float():
            return _INTEGER if value.is_integer() else _NUMBER
        case str():
            return _STRING
        case list():
            return _ARRAY
        case _:
            return _OBJECT


def type_names(schema: Mapping[str, JsonValue]) -> list[str]:
    """Return the types that the keyword `type` names, in its order; empty when it allows every type."""
    names = schema.get("type")
    if isinstance(names, str):
        return [names] if names in TYPES else []
    every = names if isinstance(names, list) else []
    return [name for name in every if isinstance(name, str) and name in TYPES]


def allowed_types(schema: JsonSchema) -> frozenset[str]:
    """Return the types that values may have by the schema's own keywords; every number includes the integers."""
    names = frozenset(type_names(schema)) or TYPES
    values = fixed_values(schema)
    if values is not None:
        names &= frozenset(name for value in values for name in json_types(value))
    return names | {"integer"} if "number" in names else names


def referenced(root: JsonSchema, schema: JsonSchema) -> tuple[str, JsonValue] | None:
    """Return the reference of a schema and what it stands for, or None when it has none.

    A reference that is not to the definitions of the root, or that leads nowhere, stands for True.
    """
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return None
    if not reference.startswith(("#/$defs/", "#/definitions/")):
        return reference, True
    try:
        return reference, resolve_pointer(root, reference[1:])
    except PointerError:
        return reference, True


def with_definitions(schema: JsonSchema, root: JsonSchema) -> JsonSchema:
    """Return a part of a schema document together with the definitions that it may refer to."""
    return {**schema, **{name: root[name] for name in ("$defs", "definitions") if name in root}}


def refers_to_schemas(schema: JsonSchema) -> bool:
    """Return whether a schema says something of the same value by other schemas."""
    return not _REFERRING.isdisjoint(schema)


def all_of(schema: JsonSchema) -> list[JsonValue]:
    """Return the schemas that must all fit as well."""
    parts = schema.get("allOf")
    return parts if isinstance(parts, list) else []


def option_groups(schema: JsonSchema) -> Iterator[list[JsonValue]]:
    """Yield lists of schemas, of each of which at least one must fit."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options:
            yield options


def fixed_values(schema: JsonSchema) -> list[JsonValue] | None:
    """Return the only values that const or enum allows, or None when neither is there."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None


def required_fields(schema: JsonSchema) -> list[str]:
    """Return the names of the fields that an object must have."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def field_names(schema: JsonSchema) -> list[str]:
    """Return the names of the fields that a schema speaks of one by one."""
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def field_schema(schema: JsonSchema, name: str) -> JsonValue:
    """Return the schema of one field of an object; False when an object cannot have it."""
    properties = schema.get("properties")
    if isinstance(properties, dict) and name in properties:
        return properties[name]
    return True if "patternProperties" in schema else schema.get("additionalProperties", True)


def item_schema(schema: JsonSchema, index: int) -> JsonValue:
    """Return the schema of one item of an array; False when an array cannot have it."""
    most = number(schema, "maxItems")
    if most is not None and index >= most:
        return False
    prefix = schema.get("prefixItems")
    if isinstance(prefix, list) and index < len(prefix):
        return prefix[index]
    return schema.get("items", True)


def treats_alike(schema: JsonSchema, count: int | None) -> bool:
    """Return whether no keyword tells one of the first `count` items, or of all, or a field with such a name, apart."""
    most = number(schema, "maxItems")
    is_open = most is None or (count is not None and most >= count)
    return is_open and not {"prefixItems", "properties"} & schema.keys()


def number(schema: JsonSchema, keyword: str) -> int | float | None:
    """Return the number that a keyword gives, or None when it gives none."""
    value = schema.get(keyword)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
