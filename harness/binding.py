"""Binding: how the arguments of a node get their values from its plan and from the results of other nodes."""

import hashlib
import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from harness.catalog import JsonSchema, ToolSpec
from harness.errors import ErrorCode, ToolError, listed, quoted
from harness.json_pointer import PointerError, resolve_pointer
from harness.json_schema import mismatch
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, PlanNode
from harness.schema_fit import takes_only_text
from harness.schema_keywords import describe, field_schema, with_definitions
from harness.wire_size import MAX_DEPTH, Room, depth_of, encoded_size

MAX_ARGUMENT_BYTES = 1_048_576
"""Largest encoded arguments of one node."""


def materialise(node: PlanNode, tool: ToolSpec, results: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the arguments of a node by name; `results` holds results by node id, at least those of its sources.

    Raises:
        ToolError: INVALID_ARGUMENT, when a literal is no JSON for its parameter, a source has no result, or a path
            does not exist in one.
    """
    arguments: dict[str, JsonValue] = {}
    for binding in node.arguments:
        try:
            arguments[binding.name] = _value(binding, tool, results)
        except (ValueError, LookupError) as error:
            message = f"node {quoted(node.id)}: argument {quoted(binding.name)} of {quoted(tool.name)}: {error}"
            raise ToolError(ErrorCode.INVALID_ARGUMENT, message) from error
    return arguments


def checked_arguments(
    node: PlanNode, tool: ToolSpec, results: Mapping[str, JsonValue], *, limit: int
) -> tuple[dict[str, JsonValue], int]:
    """Return the arguments of a node and their encoded bytes; nothing larger than the limit is ever put together.

    Raises:
        ToolError: INVALID_ARGUMENT as `materialise`, PAYLOAD_TOO_LARGE when the arguments exceed the limit.
    """
    room = Room(limit)
    for source, path in _taken(node):
        if source in results and not room.take(_size_of_part(results[source], path)):
            raise _too_large(node, limit)
    arguments = materialise(node, tool, results)
    size = encoded_size(arguments)
    if size > limit:
        raise _too_large(node, limit)
    return arguments, size


def reuse_key(tool: ToolSpec, arguments: Mapping[str, JsonValue]) -> str:
    """Return a text that is equal for equal calls: same tool, same version, same arguments in any order."""
    call = json.dumps([tool.name, tool.version, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(call.encode()).hexdigest()


def read_literal(text: str, schema: JsonSchema) -> JsonValue:
    """Return the value that a literal stands for.

    A parameter that takes only strings takes the text. Any other takes JSON; where the text is no fitting JSON but
    fits as text, it takes the text. Whether the value fits is not checked.

    Raises:
        ValueError: when the text is needed as JSON and is none.
    """
    text.encode()  # a lone surrogate is a ValueError: no message can carry it
    if takes_only_text(schema):
        return text
    takes_text = mismatch(text, schema) is None
    try:
        value = _parse_json(text)
    except ValueError as error:
        if takes_text:
            return text
        raise ValueError(f"{quoted(text)} is not JSON for {describe(schema)}: {error}") from None
    return text if takes_text and mismatch(value, schema) else value


def parameter_schema(tool: ToolSpec, name: str) -> JsonSchema:
    """Return the schema of one parameter with its definitions; an empty one when nothing is said about it."""
    schema = field_schema(tool.parameters, name)
    return with_definitions(schema if isinstance(schema, dict) else {}, tool.parameters)


def takes_extra_arguments(tool: ToolSpec) -> bool:
    """Return whether a tool says that it takes arguments which it does not name."""
    return tool.parameters.get("additionalProperties", False) is not False


def _value(binding: ArgumentBinding, tool: ToolSpec, results: Mapping[str, JsonValue]) -> JsonValue:
    value = binding.value
    if value.type is BindingType.LITERAL:
        return read_literal(value.literal_value, parameter_schema(tool, binding.name))
    taken = [_part_of_result(value, source, results) for source in value.source_node_ids]
    if value.type is BindingType.NODE_RESULTS:
        return taken
    if len(taken) != 1:
        raise ValueError(f"NODE_RESULT takes exactly one source node, it has {len(taken)}")
    return taken[0]


def _taken(node: PlanNode) -> Iterator[tuple[str, str]]:
    for binding in node.arguments:
        for source in binding.value.source_node_ids:
            yield source, binding.value.path


def _size_of_part(result: JsonValue, path: str) -> int:
    try:
        return encoded_size(resolve_pointer(result, path))
    except PointerError:
        return 0  # materialise says what is wrong


def _too_large(node: PlanNode, limit: int) -> ToolError:
    return ToolError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"node {quoted(node.id)}: its arguments have more than {limit:,} bytes, which is the limit; pass less",
    )


def _part_of_result(value: ArgumentValue, source: str, results: Mapping[str, JsonValue]) -> JsonValue:
    if source not in results:
        raise LookupError(f"there is no result of node {quoted(source)}; there are results of {listed(results)}")
    try:
        return resolve_pointer(results[source], value.path)
    except PointerError as error:
        raise LookupError(f"in the result of node {quoted(source)}: {error}") from error


def _parse_json(text: str) -> JsonValue:
    """Read JSON strictly: no NaN, no infinity, no endless nesting."""
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if depth_of(value, MAX_DEPTH) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"{quoted(text)} is too large for a number")
    return value
