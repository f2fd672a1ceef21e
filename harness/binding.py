"""Binding: how the arguments of a node get their values from its plan and from the results of other nodes."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from harness.artifact import Artifact, Result, StoredArgument
from harness.catalog import JsonSchema, ToolSpec
from harness.errors import ErrorCode, ToolError, listed, quoted
from harness.json_pointer import PointerError, resolve_pointer
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, PlanNode
from harness.record import record
from harness.result_facts import ResultFacts
from harness.signature import Parameter, Signature
from harness.wire_size import Room, encoded_size

MOST_BYTES_SPELLED_OUT = 65_536
"""Largest arguments that are also known by their values: a plan might spell them out where another took a result."""
MAX_ARGUMENT_BYTES = 8_388_608
"""Largest encoded arguments of one node, what is in the artifact store not counted."""
_MOST_CHAR_BYTES = 6
"""A control character travels as \\u0000."""
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@record()
class Arguments:
    """The arguments of a call: values by name, null where a stored value belongs, and where those belong."""

    values: dict[str, JsonValue]
    stored: tuple[StoredArgument, ...] = ()
    storable: tuple[StoredArgument, ...] = ()
    """What would be in `stored` of the results that are in `values`, were they kept in the store meanwhile."""
    most_bytes: int = 0
    """At least the encoded bytes of `values`."""


def materialise(
    node: PlanNode,
    tool: ToolSpec,
    results: Mapping[str, Result],
    *,
    signature: Signature | None = None,
    facts: ResultFacts | None = None,
) -> Arguments:
    """Return the arguments of a node; `results` holds results by node id, at least those of its sources.

    Who binds many nodes hands in the signature of their tool and the facts of all results, so that each parameter and
    each result is looked at once.

    Raises:
        ToolError: INVALID_ARGUMENT, when a literal is no JSON for its parameter, a source has no result, or a path
            does not exist in one that is no artifact.
    """
    return Arguments(*_bound(node, signature or Signature(tool), facts or ResultFacts(results)))


_Bound = tuple[dict[str, JsonValue], tuple[StoredArgument, ...], tuple[StoredArgument, ...]]
"""Values, and what is and what might be stored of them, as the fields of Arguments."""


def _bound(node: PlanNode, signature: Signature, facts: ResultFacts) -> _Bound:
    tool, results = signature.tool, facts.results
    values: dict[str, JsonValue] = {}
    stored: list[StoredArgument] = []
    storable: list[StoredArgument] = []
    for binding in node.arguments:
        try:
            values[binding.name] = _value(binding, signature, results)
        except (ValueError, LookupError) as error:
            message = f"node {quoted(node.id)}: argument {quoted(binding.name)} of {quoted(tool.name)}: {error}"
            raise ToolError(ErrorCode.INVALID_ARGUMENT, message) from error
        if binding.value.source_node_ids:
            stored.extend(_stored(binding, results))
            storable.extend(_storable(binding, facts))
    return values, tuple(stored), tuple(storable)


def checked_arguments(
    node: PlanNode,
    tool: ToolSpec,
    results: Mapping[str, Result],
    *,
    limit: int,
    signature: Signature | None = None,
    facts: ResultFacts | None = None,
) -> Arguments:
    """Return the arguments of a node; nothing larger than the limit, in encoded bytes, is ever put together.

    Raises:
        ToolError: INVALID_ARGUMENT as `materialise`, PAYLOAD_TOO_LARGE when the arguments exceed the limit.
    """
    room, facts = Room(limit), facts or ResultFacts(results)
    for binding in node.arguments:
        for source in binding.value.source_node_ids:
            if source in results and not room.take(_size_of_part(facts, source, binding.value.path)):
                raise _too_large(node, limit)
    values, stored, storable = _bound(node, signature or Signature(tool), facts)
    if room.take(_most_around(node)):
        return Arguments(values, stored, storable, limit - room.left)
    size = encoded_size(values)
    if size > limit:
        raise _too_large(node, limit)
    return Arguments(values, stored, storable, size)


def reuse_key(tool: ToolSpec, values: Mapping[str, JsonValue], stored: Sequence[StoredArgument] = ()) -> str:
    """Return a text that is equal for equal calls: same tool, same version, same arguments in any order.

    A call whose arguments are stored has another key than the same call with the values themselves.
    """
    call: list[JsonValue] = [tool.name, tool.version, dict(values)]
    if stored:
        call.append([[each.name, each.index, each.artifact.digest, each.path] for each in stored])
    return hashlib.sha256(_CANONICAL.encode(call).encode()).hexdigest()


def reuse_keys(tool: ToolSpec, arguments: Arguments) -> tuple[str, ...]:
    """Return the keys under which the result of a call is known, the first being the same wherever its sources are."""
    if not arguments.stored and not arguments.storable:
        return (reuse_key(tool, arguments.values),)
    by_reference = sorted((*arguments.stored, *arguments.storable), key=lambda each: (each.name, each.index or 0))
    values = {name: list(value) if isinstance(value, list) else value for name, value in arguments.values.items()}
    for each in arguments.storable:
        _blank(values, each)
    keys = [reuse_key(tool, values, by_reference)]
    if arguments.storable and not arguments.stored and arguments.most_bytes <= MOST_BYTES_SPELLED_OUT:
        keys.append(reuse_key(tool, arguments.values))
    return tuple(keys)


def read_literal(text: str, schema: JsonSchema) -> JsonValue:
    """Return the value that a literal stands for, as `Parameter.read` does, which is faster for many.

    Raises:
        ValueError: when the text is needed as JSON and is none.
    """
    return Parameter(schema).read(text)


def parameter_schema(tool: ToolSpec, name: str) -> JsonSchema:
    """Return the schema of one parameter with its definitions; an empty one when nothing is said about it."""
    return Parameter.of(tool, name).schema


def _value(binding: ArgumentBinding, signature: Signature, results: Mapping[str, Result]) -> JsonValue:
    value = binding.value
    if value.type is BindingType.LITERAL:
        return signature.parameter(binding.name).read(value.literal_value)
    taken = [_part_of_result(value, source, results) for source in value.source_node_ids]
    if value.type is BindingType.NODE_RESULTS:
        return taken
    if len(taken) != 1:
        raise ValueError(f"NODE_RESULT takes exactly one source node, it has {len(taken)}")
    return taken[0]


def _stored(binding: ArgumentBinding, results: Mapping[str, Result]) -> Iterator[StoredArgument]:
    """Yield where in the argument the values of stored results belong."""
    is_list = binding.value.type is BindingType.NODE_RESULTS
    for index, source in enumerate(binding.value.source_node_ids):
        result = results.get(source)
        if isinstance(result, Artifact):
            yield _place(binding, index if is_list else None, Artifact(digest=result.digest, size=result.size))


def _storable(binding: ArgumentBinding, facts: ResultFacts) -> Iterator[StoredArgument]:
    """Yield where values are whose source would be kept in the store with the state of the run."""
    is_list = binding.value.type is BindingType.NODE_RESULTS
    for index, source in enumerate(binding.value.source_node_ids):
        reference = facts.reference(source) if source in facts.results else None
        if reference is not None:
            yield _place(binding, index if is_list else None, reference)


def _place(binding: ArgumentBinding, index: int | None, artifact: Artifact) -> StoredArgument:
    """Return where a stored value belongs, with the fields that say something only."""
    place: dict[str, object] = {"name": binding.name, "artifact": artifact}
    place |= {} if index is None else {"index": index}
    place |= {"path": binding.value.path} if binding.value.path else {}
    return StoredArgument.model_validate(place)


def _blank(values: dict[str, JsonValue], place: StoredArgument) -> None:
    """Put null where a stored value would be; lists among the values are changed."""
    value = values.get(place.name)
    if place.index is not None and isinstance(value, list):
        value[place.index] = None
    else:
        values[place.name] = None


def _size_of_part(facts: ResultFacts, source: str, path: str) -> int:
    result = facts.results[source]
    if not path or isinstance(result, Artifact):
        return facts.size(source)
    try:
        return encoded_size(resolve_pointer(result, path))
    except PointerError:
        return 0  # materialise says what is wrong


def _most_around(node: PlanNode) -> int:
    """Return the most bytes that arguments can have beside the results in them: names, literals and punctuation."""
    most = 0
    for binding in node.arguments:
        most += _MOST_CHAR_BYTES * (len(binding.name) + len(binding.value.literal_value))
        most += 16 * (1 + len(binding.value.source_node_ids))
    return most


def _too_large(node: PlanNode, limit: int) -> ToolError:
    return ToolError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"node {quoted(node.id)}: its arguments have more than {limit:,} bytes, which is the limit; pass less",
    )


def _part_of_result(value: ArgumentValue, source: str, results: Mapping[str, Result]) -> JsonValue:
    """Return what is taken of a result; null for a stored one, whose part is taken where it is loaded."""
    if source not in results:
        raise LookupError(f"there is no result of node {quoted(source)}; there are results of {listed(results)}")
    result = results[source]
    if isinstance(result, Artifact):
        return None
    try:
        return resolve_pointer(result, value.path)
    except PointerError as error:
        raise LookupError(f"in the result of node {quoted(source)}: {error}") from error
