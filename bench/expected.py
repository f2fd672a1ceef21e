"""What a run must have given: figures of a run that did its work wrong, or twice, would say nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from bench.failure import BenchFailure
from bench.shapes import REPORT, graph
from harness.run import NodeReport, RunResult, RunStatus
from harness.schedule import NodeStatus

_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "step": lambda x: x,
    "total": len,
    "nap": lambda ms: ms,
    "blob": lambda size: "x" * size,
    "measure": len,
    REPORT: lambda sources: f"{len(sources)} results, {sum(sources)} in sum",
}
"""What the calls of bench.work return, said a second time and without waiting: they are checked against it."""


@cache
def expected_report(name: str) -> str:
    """Return the report that a graph must give."""
    results: dict[str, Any] = {}
    for vertex in graph(name):
        (argument,) = vertex.arguments(results)
        results[vertex.id] = _VALUES[vertex.tool](argument)
    report: str = results[REPORT]
    return report


def check_raw(name: str, result: dict[str, str]) -> None:
    """Refuse a run of the raw workflow whose report is not that of its graph."""
    _check_report("the raw workflow", name, result.get("report"))


def check_ours(name: str, result: RunResult) -> None:
    """Refuse a run that did not succeed, has another report than its graph, or did not run each node just once."""
    if result.status is not RunStatus.SUCCEEDED:
        raise BenchFailure(f"{result.run_id}, {name}: ended {result.status}: {result.error}")
    _check_report(result.run_id, name, result.report)
    found, wanted = Counter(one.node.id for one in result.plan), Counter(vertex.id for vertex in graph(name))
    if found != wanted:
        wrong = ", ".join(sorted((found - wanted) + (wanted - found))[:5])
        total = found.total()
        raise BenchFailure(
            f"{result.run_id}, {name}: its result has {total} nodes, not each of {wanted.total()} once: {wrong}"
        )
    _check_nodes(result.run_id, name, result.plan)
    if result.budget.tool_calls != wanted.total():
        raise BenchFailure(
            f"{result.run_id}, {name}: {result.budget.tool_calls} tool calls were counted for {wanted.total()} nodes"
        )


def _check_report(who: str, name: str, report: str | None) -> None:
    if report != expected_report(name):
        raise BenchFailure(f"{who}, {name}: wrong report {report!r}; its graph gives {expected_report(name)!r}")


def _check_nodes(who: str, name: str, nodes: Iterable[NodeReport]) -> None:
    for one in nodes:
        if one.status is not NodeStatus.DONE or one.tries != 1:
            raise BenchFailure(
                f"{who}, {name}: node {one.node.id!r} is {one.status} after {one.tries} tries, not DONE after 1"
            )
