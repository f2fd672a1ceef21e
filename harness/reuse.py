"""Reuse: which calls of a new plan take the result that an earlier attempt of the run has already paid for."""

from collections import deque
from collections.abc import Mapping

from harness.artifact import Result
from harness.binding import MAX_ARGUMENT_BYTES, checked_arguments
from harness.call import Call
from harness.catalog import Catalog
from harness.errors import ToolError
from harness.plan import Plan, PlanNode

MOST_BYTES_LOOKED_AT = 8_388_608
"""Encoded arguments of all calls whose keys are found out at once, in half a second of a task that may take two."""


def reusable_results(plan: Plan, catalog: Catalog, paid: Mapping[str, Result]) -> dict[str, Result]:
    """Return the results, by node id, of nodes whose call equals one that is paid for, before anything runs.

    Total on any plan, also an invalid one: a node that cannot be resolved is simply not reused. Of calls with large
    arguments only the first are looked at: the others are known again when they would start.
    """
    found: dict[str, Result] = {}
    if not paid:
        return found
    waiting = {node.id: sum(1 for _ in _sources(node)) for node in plan.nodes}
    consumers: dict[str, list[PlanNode]] = {node.id: [] for node in plan.nodes}
    for node in plan.nodes:
        for source in _sources(node):
            consumers.get(source, []).append(node)
    queue = deque(node for node in plan.nodes if waiting[node.id] == 0)
    bytes_left = MOST_BYTES_LOOKED_AT
    while queue:
        node = queue.popleft()
        call = call_of(node, catalog, found)
        if call is None:
            continue
        bytes_left -= call.arguments.most_bytes
        if bytes_left < 0:
            break
        key = next((key for key in call.keys if key in paid), None)
        if node.id in found or key is None:
            continue
        found[node.id] = paid[key]
        for consumer in consumers[node.id]:
            waiting[consumer.id] -= 1
            if waiting[consumer.id] == 0:
                queue.append(consumer)
    return found


def call_of(node: PlanNode, catalog: Catalog, results: Mapping[str, Result]) -> Call | None:
    """Return the call of a node whose result may be reused; None when it may not, or the call is not yet known."""
    tool = catalog.tool(node.tool)
    if tool is None or not tool.is_reusable:
        return None
    try:
        return Call(tool, checked_arguments(node, tool, results, limit=MAX_ARGUMENT_BYTES))
    except ToolError:
        return None


def _sources(node: PlanNode) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for binding in node.arguments for source in binding.value.source_node_ids))
