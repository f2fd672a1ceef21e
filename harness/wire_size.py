"""Sizes on the wire, measured before anything is handed to Temporal: what is too large would hang or end the run."""

from pydantic import JsonValue, TypeAdapter

_JSON = TypeAdapter(JsonValue)


def encoded_size(value: JsonValue) -> int:
    """Return the bytes of a JSON value as it travels."""
    return len(_JSON.dump_json(value))
