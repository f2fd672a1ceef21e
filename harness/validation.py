"""Validation: every rule that a plan breaks, found at once and in plan order."""

from collections.abc import Iterator

from harness.argument_rules import Finding, check_arguments
from harness.catalog import Catalog, ToolRole
from harness.errors import listed, quoted
from harness.plan import Plan, PlanNode
from harness.plan_graph import find_cycles, reachable
from harness.plan_index import PlanIndex
from harness.violation import Rule, Violation, summarize

__all__ = ["MAX_ID_LENGTH", "Rule", "Violation", "summarize", "validate"]

MAX_ID_LENGTH = 100
_ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_CYCLE_ENDS = 6
"""Nodes shown at each end of a long cycle."""


def validate(plan: Plan, catalog: Catalog, *, max_nodes: int, calls_left: int) -> tuple[Violation, ...]:
    """Return all violations of a plan: those of the plan as a whole first, then those of each node in plan order.

    `calls_left` counts the nodes that take a result which is already paid for as well: they need no call. Total on any
    plan, and linear in its size.
    """
    if not plan.nodes:
        message = "the plan is empty: it needs at least one node, and exactly one FINAL_SYNTHESIS node"
        return (Violation(None, Rule.EMPTY_PLAN, message),)
    index = PlanIndex.of(plan, catalog)
    found = [Violation(None, *finding) for finding in _check_size(len(plan.nodes), max_nodes, calls_left)]
    finals = [node for node in plan.nodes if index.is_final(node)]
    if len(finals) != 1:
        found.append(Violation(None, *_wrong_final_count(finals, index)))
    graph_findings = _check_graph(plan, finals, index)
    seen: set[str] = set()
    for number, node in enumerate(plan.nodes, start=1):
        findings = [*_check_id(node, seen), *_check_node(node, index)]
        if graph_findings and node.id not in seen:
            findings += graph_findings.get(node.id, [])
        seen.add(node.id)
        if findings:
            found += _violations_of(node, number, findings)
    return tuple(found)


def _violations_of(node: PlanNode, number: int, findings: list[Finding]) -> Iterator[Violation]:
    """Yield findings as violations of their node, named by its number where its id is at fault."""
    for rule, problem in findings:
        if _is_good_id(node.id):
            yield Violation(node.id, rule, f"node {node.id!r}: {problem}")
        else:
            yield Violation(None, rule, f"node number {number}: {problem}")


def _check_size(size: int, max_nodes: int, calls_left: int) -> Iterator[Finding]:
    if size > max_nodes:
        yield Rule.TOO_MANY_NODES, f"the plan has {size} nodes; use at most {max_nodes}"
    if size > calls_left:
        fit = f"at most {calls_left} nodes fit: the calls left plus the results that are reused"
        yield Rule.TOO_MANY_CALLS, f"the plan has {size} nodes, each of which is a tool call; {fit}"


def _wrong_final_count(finals: list[PlanNode], index: PlanIndex) -> Finding:
    tools = [tool.name for tool in index.tools.values() if tool.role is ToolRole.FINAL_SYNTHESIS]
    rule = f"the plan needs exactly one FINAL_SYNTHESIS node, it has {len(finals)}"
    if finals:
        return Rule.FINAL_SYNTHESIS_COUNT, f"{rule}: keep one of {listed(node.id for node in finals)}"
    return Rule.FINAL_SYNTHESIS_COUNT, f"{rule}: add one with a tool of that role: {listed(tools)}"


def _is_good_id(node_id: str) -> bool:
    return 0 < len(node_id) <= MAX_ID_LENGTH and _ID_CHARACTERS.issuperset(node_id)


def _check_id(node: PlanNode, seen: set[str]) -> Iterator[Finding]:
    if not _is_good_id(node.id):
        yield _bad_id(node.id)
    if node.id in seen:
        yield Rule.DUPLICATE_ID, f"duplicate node id {quoted(node.id)}; give each node an id of its own"


def _bad_id(node_id: str) -> Finding:
    if not node_id.strip():
        return Rule.BAD_ID, "node id must not be blank"
    allowed = f"use at most {MAX_ID_LENGTH} letters A-Z or a-z, digits, '_', '.' and '-'"
    return Rule.BAD_ID, f"node id {quoted(node_id)} is not allowed; {allowed}"


def _check_node(node: PlanNode, index: PlanIndex) -> Iterator[Finding]:
    for dep in dict.fromkeys(node.deps):
        if not dep.strip():
            yield Rule.BAD_DEPENDENCY, "dependency id must not be blank; name a node of the plan"
        elif dep == node.id:
            yield Rule.CYCLE, f"cycle detected: {quoted(dep)} depends on itself; remove it from its own deps"
        elif dep not in index.nodes:
            hint = index.near_ids.hint(dep) or "; name a node of the plan or remove it"
            yield Rule.BAD_DEPENDENCY, f"missing node {quoted(dep)} in deps{hint}"
    signature = index.signatures.get(node.tool)
    if signature is not None:
        yield from check_arguments(node, signature, index)
    else:
        yield _unusable_tool(node.tool, index)


def _unusable_tool(name: str, index: PlanIndex) -> Finding:
    if not name.strip():
        return Rule.UNKNOWN_TOOL, f"tool must not be blank; use one of {listed(index.tools)}"
    if name in index.withheld:
        return Rule.WITHHELD_TOOL, f"the run may not use tool {quoted(name)}: {index.withheld[name]}"
    if name in index.left_out:
        told = "it is not in this catalog, and is in that of the next plan"
        return Rule.LEFT_OUT_TOOL, f"tool {quoted(name)} was left out as less fit for the goal: {told}"
    hint = index.near_tools.hint(name) or ";"
    return Rule.UNKNOWN_TOOL, f"unknown tool {quoted(name)}{hint} use one of {listed(index.tools)}"


def _check_graph(plan: Plan, finals: list[PlanNode], index: PlanIndex) -> dict[str, list[Finding]]:
    """Return by node id what is wrong with how nodes hang together."""
    nodes = index.nodes
    needs = {node_id: tuple([dep for dep in node.deps if dep in nodes]) for node_id, node in nodes.items()}
    findings: dict[str, list[Finding]] = {}
    if len(finals) == 1:
        final = finals[0]
        dependents = [node.id for node in plan.nodes if final.id in node.deps and node.id != final.id]
        if dependents:
            problem = f"the FINAL_SYNTHESIS node must be the last one; remove it from the deps of {listed(dependents)}"
            findings.setdefault(final.id, []).append((Rule.FINAL_SYNTHESIS_NOT_LAST, problem))
        for node_id in _unused_reads(final, needs, index):
            problem = f"the report does not depend on this READ; add it to the deps of {quoted(final.id)} or remove it"
            findings.setdefault(node_id, []).append((Rule.UNUSED_READ, problem))
    for cycle in find_cycles(needs):
        problem = f"cycle detected, each node waits for the next: {_path(cycle)}; remove one of these deps"
        findings.setdefault(cycle[0], []).append((Rule.CYCLE, problem))
    return findings


def _unused_reads(final: PlanNode, needs: dict[str, tuple[str, ...]], index: PlanIndex) -> Iterator[str]:
    """Yield the READ nodes without which the report would be the same; a source counts also when it is not in deps."""
    reads = [node_id for node_id, node in index.nodes.items() if index.is_read(node)]
    if reachable(final.id, needs.__getitem__).issuperset(reads):
        return
    used = reachable(final.id, lambda node_id: (*needs[node_id], *_sources(index.nodes[node_id], index)))
    yield from (node_id for node_id in reads if node_id not in used)


def _sources(node: PlanNode, index: PlanIndex) -> Iterator[str]:
    return (source for each in node.arguments for source in each.value.source_node_ids if source in index.nodes)


def _path(cycle: tuple[str, ...]) -> str:
    names = [quoted(node_id) for node_id in cycle]
    if len(names) > 2 * _CYCLE_ENDS + 1:
        names[_CYCLE_ENDS:-_CYCLE_ENDS] = [f"({len(names) - 2 * _CYCLE_ENDS} more)"]
    return " -> ".join(names)
