"""Rules of the arguments of one node: names, literals, sources, and whether results can fit."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from harness.binding import parameter_schema, read_literal, takes_extra_arguments
from harness.catalog import JsonSchema, ToolSpec
from harness.errors import listed, quoted
from harness.json_pointer import PointerError, parse_pointer
from harness.json_schema import mismatch
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, PlanNode
from harness.plan_index import PlanIndex
from harness.schema_fit import cannot_fit, schema_at
from harness.schema_keywords import describe
from harness.violation import Rule

Finding = tuple[Rule, str]
"""A broken rule, and what is wrong and would be right."""


def check_arguments(node: PlanNode, tool: ToolSpec, index: PlanIndex) -> Iterator[Finding]:
    """Yield what is wrong with the arguments of a node, in their order; missing ones come last."""
    call = _Call(node, tool, index, tool.parameter_schemas, frozenset(node.deps))
    bound: set[str] = set()
    for binding in node.arguments:
        name = binding.name
        if name in bound:
            yield Rule.REPEATED_ARGUMENT, f"argument {quoted(name)} is given more than once; give it once"
        elif name not in call.parameters and not takes_extra_arguments(tool):
            yield Rule.UNKNOWN_ARGUMENT, _unknown(name, call)
        else:
            findings = _check_value(binding, parameter_schema(tool, name), call)
            yield from ((rule, f"argument {quoted(name)}: {problem}") for rule, problem in findings)
        bound.add(name)
    missing = [name for name in tool.required_parameters if name not in bound]
    if missing:
        needed = ", ".join(f"{quoted(name)} ({describe(call.parameters[name])})" for name in missing[:20])
        yield Rule.MISSING_ARGUMENT, f"missing required arguments of tool {quoted(tool.name)}: {needed}"


@dataclass(frozen=True)
class _Call:
    """One node with what its rules look up."""

    node: PlanNode
    tool: ToolSpec
    index: PlanIndex
    parameters: dict[str, JsonSchema]
    deps: frozenset[str]


def _unknown(name: str, call: _Call) -> str:
    takes = f"tool {quoted(call.tool.name)} takes {listed(call.parameters)}"
    if not name.strip():
        return f"argument name must not be blank; {takes}"
    return f"unknown argument {quoted(name)}{call.index.near_arguments[call.tool.name].hint(name) or ';'} {takes}"


def _check_value(binding: ArgumentBinding, schema: JsonSchema, call: _Call) -> Iterator[Finding]:
    value = binding.value
    if value.type is BindingType.LITERAL:
        yield from _check_literal(value, schema)
        return
    findings = [*_check_shape(value), *_check_path(value)]
    findings += [finding for source in value.source_node_ids for finding in _check_source(source, call)]
    yield from findings or _check_fit(binding, schema, call)


def _check_literal(value: ArgumentValue, schema: JsonSchema) -> Iterator[Finding]:
    if value.source_node_ids:
        yield Rule.BAD_BINDING, "a LITERAL must not name source nodes; empty source_node_ids or use NODE_RESULT"
    if value.path:
        yield Rule.BAD_BINDING, "a LITERAL must not have a path; empty it or use NODE_RESULT"
    problem = _literal_problem(value.literal_value, schema)
    if problem:
        yield Rule.BAD_LITERAL, problem


def _literal_problem(text: str, schema: JsonSchema) -> str | None:
    try:
        literal = read_literal(text, schema)
    except ValueError as error:
        return str(error)
    if isinstance(literal, str) and not literal.strip():
        return "literal argument value must not be blank; give a text, or leave an optional argument out"
    return mismatch(literal, schema)


def _check_shape(value: ArgumentValue) -> Iterator[Finding]:
    if value.literal_value.strip():
        yield Rule.BAD_BINDING, f"a {value.type} must not carry a literal; empty literal_value or use LITERAL"
    count = len(value.source_node_ids)
    if not count:
        yield Rule.BAD_SOURCE, f"a {value.type} needs a source node in source_node_ids"
    repeated = [source for source, times in Counter(value.source_node_ids).items() if times > 1]
    if repeated:
        yield Rule.BAD_SOURCE, f"a source is named once, {listed(repeated)} stands there several times"
    if value.type is BindingType.NODE_RESULT and count > 1:
        yield Rule.BAD_BINDING, f"a NODE_RESULT takes one source node, not {count}; use NODE_RESULTS for a list"


def _check_path(value: ArgumentValue) -> Iterator[Finding]:
    try:
        parse_pointer(value.path)
    except PointerError as error:
        yield Rule.BAD_PATH, str(error)


def _check_source(source: str, call: _Call) -> Iterator[Finding]:
    """Check one source; a missing node that is also in deps is reported there."""
    if not source.strip():
        yield Rule.BAD_SOURCE, "source node id must not be blank; name a node of the plan"
    elif source == call.node.id:
        yield Rule.BAD_SOURCE, "a node cannot take its own result; name another node"
    elif source in call.deps:
        return
    elif source in call.index.nodes:
        yield Rule.BAD_SOURCE, f"argument source node must be listed in deps; add {quoted(source)} to them"
    else:
        hint = call.index.near_ids.hint(source) or "; name a node of the plan"
        yield Rule.BAD_SOURCE, f"source is the missing node {quoted(source)}{hint}"


def _check_fit(binding: ArgumentBinding, schema: JsonSchema, call: _Call) -> Iterator[Finding]:
    sources = binding.value.source_node_ids
    if binding.value.type is BindingType.NODE_RESULT:
        yield from _check_result(sources[0], binding, schema, call, None)
        return
    clash = cannot_fit({"type": "array", "minItems": len(sources), "maxItems": len(sources)}, schema)
    if clash:
        yield Rule.RESULT_CANNOT_FIT, f"NODE_RESULTS gives a list of {len(sources)}, which cannot fit: {clash}"
        return
    for place, source in enumerate(sources):
        yield from _check_result(source, binding, schema, call, place)


def _check_result(
    source: str, binding: ArgumentBinding, schema: JsonSchema, call: _Call, place: int | None
) -> Iterator[Finding]:
    tool = call.index.tool_of(source)
    if tool is None:
        return
    key = (tool.name, binding.value.path, call.tool.name, binding.name, place)
    if key not in call.index.misfits:
        call.index.misfits[key] = _misfit(tool, binding.value.path, schema, place)
    misfit = call.index.misfits[key]
    if misfit:
        rule, problem = misfit
        yield rule, f"the result of {quoted(source)} {problem}"


def _misfit(tool: ToolSpec, path: str, schema: JsonSchema, place: int | None) -> Finding | None:
    where = f" at {quoted(path)}" if path else ""
    try:
        part = schema_at(tool.result, path)
    except PointerError as error:
        return Rule.BAD_PATH, f"has no {quoted(path)}: {error}"
    try:
        target = schema if place is None else schema_at(schema, f"/{place}")
    except PointerError:
        return Rule.RESULT_CANNOT_FIT, f"has no place in the list: it may not have an item {place}"
    clash = cannot_fit(part, target)
    return (Rule.RESULT_CANNOT_FIT, f"(tool {quoted(tool.name)}){where} cannot fit: {clash}") if clash else None
