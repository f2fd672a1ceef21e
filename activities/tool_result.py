"""What a tool returned, as JSON that any server can carry."""

import json
import math
from decimal import Decimal
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic_core import PydanticSerializationError

from activities.failures import describe_validation
from activities.toolkit import Tool
from harness.errors import ErrorCode, ToolError
from harness.wire_size import MAX_DEPTH, depth_of

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ALWAYS_JSON = frozenset({str, int, bool, type(None)})


def encode(tool: Tool, value: Any, *, limit: int, node_id: str) -> tuple[JsonValue, bytes]:  # noqa: ANN401 - a tool's own type
    """Check a result against the tool's own type and return it as a JSON value and as its encoding.

    Raises:
        ToolError: INVALID_OUTPUT when no JSON of its type holds it, PAYLOAD_TOO_LARGE when it has more bytes than that.
    """
    name = tool.spec.name
    try:
        is_plain = type(value) is tool.plain_result
        plain, encoded = (value, as_bytes(value)) if is_plain else _json_of(tool, value)
    except (ValidationError, PydanticSerializationError, ValueError, RecursionError) as exc:
        detail = describe_validation(exc) if isinstance(exc, ValidationError) else f"{type(exc).__name__}: {exc}"
        raise ToolError(ErrorCode.INVALID_OUTPUT, f"{name} returned what no JSON of its type holds: {detail}") from exc
    check_size(tool, len(encoded), limit=limit, node_id=node_id)
    return plain, encoded


def _json_of(tool: Tool, value: object) -> tuple[JsonValue, bytes]:
    if type(value) not in _ALWAYS_JSON:
        _refuse_what_json_lacks(tool.result.dump_python(value, warnings="error"))
    plain: JsonValue = tool.result.dump_python(value, mode="json", warnings="error")
    _refuse_depth(plain)  # a serializer of its own may have nested it
    encoded = as_bytes(plain)
    tool.result.validate_json(encoded)
    return plain, encoded


def as_bytes(plain: JsonValue) -> bytes:
    """Return the encoding of a JSON value.

    Raises:
        ValueError: when a number in it is not finite, or a text has lone surrogates.
    """
    return _ENCODER.encode(plain).encode()


def check_size(tool: Tool, size: int, *, limit: int, node_id: str) -> None:
    """Refuse a result that is too large.

    Raises:
        ToolError: PAYLOAD_TOO_LARGE.
    """
    if size > limit:
        raise ToolError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"node {node_id!r}: the result of {tool.spec.name} has {size:,} bytes, the limit is {limit:,}; return less",
        )


def _refuse_depth(value: object) -> None:
    if depth_of(value, MAX_DEPTH) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")


def _refuse_what_json_lacks(value: object) -> None:
    """Refuse NaN and infinities, which pydantic would turn into null, and what is nested too deep to decode."""
    _refuse_depth(value)
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, float | Decimal) and not math.isfinite(current):
            raise ValueError(f"{current} has no JSON form")
        if isinstance(current, dict):
            waiting.extend(current.values())
        elif isinstance(current, list | tuple | set | frozenset):
            waiting.extend(current)
