"""Argument errors: what is wrong with the arguments of a call and what would be right, for whoever calls again."""

from collections.abc import Iterable

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from harness.catalog import ToolSpec
from harness.errors import ErrorCode, ToolError, bounded, listed, quoted
from harness.json_pointer import join_pointer
from harness.schema_keywords import describe

MAX_TOLD = 10
"""Arguments that one error tells of."""
_MISSING = "missing"
_UNKNOWN = "extra_forbidden"


def argument_error(spec: ToolSpec, error: ValidationError) -> ToolError:
    """Return the error of a call: each argument by name, without its value, which may be large or private."""
    found = error.errors(include_url=False, include_context=False)
    lines = [_finding(spec, each) for each in found[:MAX_TOLD]]
    more = [f"and {len(found) - MAX_TOLD} more"] if len(found) > MAX_TOLD else []
    is_missing = all(each["type"] == _MISSING for each in found)
    code = ErrorCode.MISSING_REQUIRED_ARGUMENT if is_missing else ErrorCode.INVALID_ARGUMENT
    return ToolError(code, bounded(f"{spec.name}: {'; '.join(lines + more)}"))


def _finding(spec: ToolSpec, details: ErrorDetails) -> str:
    if not details["loc"]:
        return f"the arguments: {details['msg']}"
    name, *inside = (str(part) for part in details["loc"])
    if details["type"] == _UNKNOWN and not inside:
        return f"argument {quoted(name)} is unknown; there are {listed(spec.parameter_schemas)}"
    schema = spec.parameter_schemas.get(name)
    wanted = f", it takes {describe(schema)}" if schema is not None else ""
    if details["type"] == _MISSING and not inside:
        return f"argument {quoted(name)} is missing{wanted}"
    if details["type"] == _MISSING:
        return f"argument {quoted(name)}: {_at(inside)} is missing{wanted}"
    place = f" at {_at(inside)}" if inside else ""
    return f"argument {quoted(name)}{place}: {details['msg']}, given {_kind(details['input'])}{wanted}"


def _at(path: Iterable[str]) -> str:
    return quoted(join_pointer(tuple(path)))


def _kind(value: JsonValue | object) -> str:
    """Return the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return f"a string of {len(value)} characters"
        case list():
            return f"an array of {len(value)} items"
        case _:
            return "an object"
