"""Rules of the arguments of one node: names, literals, sources, and whether results can fit."""

from collections import Counter
from collections.abc import Iterable, Iterator

from harness.catalog import JsonSchema, ToolSpec
from harness.errors import listed, quoted
from harness.json_pointer import PointerError, parse_pointer
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, PlanNode
from harness.plan_index import ListFit, PlanIndex
from harness.record import record
from harness.schema_fit import cannot_fit, has_like_items, schema_at
from harness.schema_keywords import describe
from harness.signature import Parameter, Signature
from harness.violation import Rule

Finding = tuple[Rule, str]
"""A broken rule, and what is wrong and would be right."""


def check_arguments(node: PlanNode, signature: Signature, index: PlanIndex) -> Iterator[Finding]:
    """Yield what is wrong with the arguments of a node, in their order; missing ones come last."""
    call = _Call(node, signature, index, frozenset(node.deps))
    bound: set[str] = set()
    for binding in node.arguments:
        name = binding.name
        if name in bound:
            yield Rule.REPEATED_ARGUMENT, f"argument {quoted(name)} is given more than once; give it once"
        elif name not in signature.schemas and not signature.takes_extra:
            yield Rule.UNKNOWN_ARGUMENT, _unknown(name, call)
        else:
            for rule, problem in _check_value(binding, signature.parameter(name), call):
                yield rule, f"argument {quoted(name)}: {problem}"
        bound.add(name)
    missing = [name for name in signature.required if name not in bound]
    if missing:
        needed = ", ".join(f"{quoted(name)} ({describe(signature.schemas[name])})" for name in missing[:20])
        yield Rule.MISSING_ARGUMENT, f"missing required arguments of tool {quoted(signature.tool.name)}: {needed}"


@record()
class _Call:
    """One node with what its rules look up."""

    node: PlanNode
    signature: Signature
    index: PlanIndex
    deps: frozenset[str]


def _unknown(name: str, call: _Call) -> str:
    tool = call.signature.tool.name
    takes = f"tool {quoted(tool)} takes {listed(call.signature.schemas)}"
    if not name.strip():
        return f"argument name must not be blank; {takes}"
    return f"unknown argument {quoted(name)}{call.index.near_arguments[tool].hint(name) or ';'} {takes}"


def _check_value(binding: ArgumentBinding, parameter: Parameter, call: _Call) -> Iterable[Finding]:
    value = binding.value
    if value.type is BindingType.LITERAL:
        return _check_literal(value, parameter)
    findings = [*_check_shape(value), *_check_path(value)]
    findings += [finding for source in value.source_node_ids for finding in _check_source(source, call)]
    return findings or _check_fit(binding, parameter.schema, call)


def _check_literal(value: ArgumentValue, parameter: Parameter) -> list[Finding]:
    found: list[Finding] = []
    if value.source_node_ids:
        message = "a LITERAL must not name source nodes; empty source_node_ids or use NODE_RESULT"
        found.append((Rule.BAD_BINDING, message))
    if value.path:
        found.append((Rule.BAD_BINDING, "a LITERAL must not have a path; empty it or use NODE_RESULT"))
    problem = _literal_problem(value.literal_value, parameter)
    if problem:
        found.append((Rule.BAD_LITERAL, problem))
    return found


def _literal_problem(text: str, parameter: Parameter) -> str | None:
    try:
        literal = parameter.read(text)
    except ValueError as error:
        return str(error)
    if isinstance(literal, str) and not literal.strip():
        return "literal argument value must not be blank; give a text, or leave an optional argument out"
    return parameter.misfit(literal)


def _check_shape(value: ArgumentValue) -> Iterator[Finding]:
    if value.literal_value.strip():
        yield Rule.BAD_BINDING, f"a {value.type} must not carry a literal; empty literal_value or use LITERAL"
    count = len(value.source_node_ids)
    if not count:
        yield Rule.BAD_SOURCE, f"a {value.type} needs a source node in source_node_ids"
    if len(set(value.source_node_ids)) < count:
        repeated = [source for source, times in Counter(value.source_node_ids).items() if times > 1]
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
    fit = _list_fit(len(sources), binding.name, schema, call)
    if fit.clash:
        yield Rule.RESULT_CANNOT_FIT, f"NODE_RESULTS gives a list of {len(sources)}, which cannot fit: {fit.clash}"
        return
    for place, source in enumerate(sources):
        yield from _check_result(source, binding, schema, call, 0 if fit.is_alike else place)


def _list_fit(count: int, name: str, schema: JsonSchema, call: _Call) -> ListFit:
    key = (call.signature.tool.name, name, count)
    known = call.index.list_fits
    if key not in known:
        clash = cannot_fit({"type": "array", "minItems": count, "maxItems": count}, schema)
        known[key] = ListFit(clash, has_like_items(schema, count))
    return known[key]


def _check_result(
    source: str, binding: ArgumentBinding, schema: JsonSchema, call: _Call, place: int | None
) -> Iterator[Finding]:
    tool = call.index.tool_of(source)
    if tool is None:
        return
    path = binding.value.path
    shared = call.index.signatures[tool.name].shared_path(path)
    key = (tool.name, shared, call.signature.tool.name, binding.name, place)
    if key not in call.index.misfits:
        call.index.misfits[key] = _misfit(tool, shared, schema, place)
    misfit = call.index.misfits[key]
    if misfit and path != shared:
        misfit = _misfit(tool, path, schema, place)  # its words are about the path itself
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
