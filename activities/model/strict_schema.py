"""Strict schemas: what a server with strict structured output accepts, made from a pydantic class."""

from pydantic import BaseModel, JsonValue

from harness.catalog import JsonSchema

_STRIPPED = frozenset(
    {
        "default", "title", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
        "examples", "discriminator", "deprecated", "readOnly", "writeOnly", "contentMediaType", "contentEncoding",
    }
)  # fmt: skip
"""Keywords that strict mode refuses, at OpenAI or at a server that is compatible with it. The answer is validated
against the class itself afterwards, so nothing is lost."""


def strict_schema(model_class: type[BaseModel]) -> JsonSchema:
    """Return a closed schema in which every property is required; the class keeps its own.

    Raises:
        ValueError: for a class with a free-form object or a tuple of fixed length, which strict mode cannot express.
    """
    schema = _strict(model_class.model_json_schema(), where=model_class.__name__)
    if not isinstance(schema, dict):
        raise TypeError(f"the schema of {model_class.__name__} is no object")
    return schema


def _strict(schema: JsonValue, *, where: str) -> JsonValue:
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # siblings of a reference are refused
    merged = _merged(schema, where)
    strict: dict[str, JsonValue] = {}
    for key, value in merged.items():
        if key in _STRIPPED:
            continue
        strict[_renamed(key)] = _strict_keyword(key, value, where)
    if strict.get("type") == "object" or "properties" in strict:
        _close(strict, where)
    return strict


def _merged(schema: JsonSchema, where: str) -> JsonSchema:
    """Take the one member of an allOf in; pydantic makes no longer ones."""
    parts = schema.get("allOf")
    if parts is None:
        return schema
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        raise ValueError(f"{where}: allOf cannot be sent as a strict schema")
    return {**{key: value for key, value in schema.items() if key != "allOf"}, **parts[0]}


def _renamed(key: str) -> str:
    return {"oneOf": "anyOf", "const": "enum"}.get(key, key)


def _strict_keyword(key: str, value: JsonValue, where: str) -> JsonValue:
    match key, value:
        case (("properties" | "$defs"), dict()):
            return {name: _strict(part, where=f"{where}.{name}") for name, part in value.items()}
        case (("anyOf" | "oneOf"), list()):
            return [_strict(part, where=where) for part in value]
        case "items", _:
            return _strict(value, where=f"{where}[]")
        case "const", _:
            return [value]
        case "prefixItems", _:
            raise ValueError(f"{where}: a tuple of fixed length cannot be sent as a strict schema; use an object")
        case _:
            return value


def _close(strict: JsonSchema, where: str) -> None:
    properties = strict.get("properties")
    extra = strict.get("additionalProperties")
    if not isinstance(properties, dict) or isinstance(extra, dict) or extra is True:
        raise ValueError(f"{where}: a free-form object cannot be sent as a strict schema; name its fields")
    strict["additionalProperties"] = False
    strict["required"] = list(properties)
