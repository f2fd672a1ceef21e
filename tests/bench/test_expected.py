from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bench import work
from bench.expected import check_ours, check_raw, expected_report
from bench.failure import BenchFailure
from bench.shapes import graph
from bench.toolkit import answer_of
from harness.budget import Budget, Limits
from harness.plan import Plan
from harness.run import NodeReport, RunResult, RunStatus
from harness.schedule import NodeStatus

GRAPH = "wide:3"
BUDGET = Budget(Limits()).snapshot(timedelta(0))
NODES = tuple(
    NodeReport(node=node, status=NodeStatus.DONE, tries=1) for node in Plan.model_validate_json(answer_of(GRAPH)).nodes
)


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("wide:4", "3 results, 3 in sum"),
        ("deep:5", "1 results, 7 in sum"),
        ("diamond:7", "1 results, 1 in sum"),
        ("fan_out:10", "20 results, 200 in sum"),
    ],
)
def test_knows_the_report_of_a_graph(name: str, report: str) -> None:
    assert expected_report(name) == report


@pytest.mark.parametrize("name", ["wide:10", "deep:10", "diamond:10", "diamond:101", "fan_out:10"])
async def test_the_calls_themselves_give_that_report(name: str) -> None:
    calls = {call.__name__: call for call in (*work.CALLS, work.report)}
    results: dict[str, object] = {}

    for vertex in graph(name):
        results[vertex.id] = await calls[vertex.tool](*vertex.arguments(results))

    assert results["report"] == {"report": expected_report(name)}


def test_accepts_a_right_result_of_either_side() -> None:
    check_ours(GRAPH, _result())
    check_raw(GRAPH, {"report": "2 results, 1 in sum"})


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda: _result(status=RunStatus.FAILED_EXECUTION), "ended FAILED_EXECUTION"),
        (lambda: _result(report="2 results, 2 in sum"), "wrong report '2 results, 2 in sum'"),
        (lambda: _result(report=None), "wrong report None"),
        (lambda: _result(plan=NODES[1:]), "its result has 2 nodes, not each of 3 once: n0"),
        (lambda: _result(plan=(*NODES, NODES[1])), "its result has 4 nodes, not each of 3 once: n1"),
        (lambda: _result(plan=_with_node(tries=2)), "node 'n0' is DONE after 2 tries"),
        (lambda: _result(plan=_with_node(status=NodeStatus.SKIPPED)), "node 'n0' is SKIPPED"),
        (lambda: _result(tool_calls=4), "4 tool calls were counted for 3 nodes"),
    ],
    ids=["failed", "wrong report", "no report", "node missing", "node twice", "second try", "skipped", "call too many"],
)
def test_refuses_a_run_that_did_not_do_each_node_just_once(result: Callable[[], RunResult], words: str) -> None:
    with pytest.raises(BenchFailure, match=words):
        check_ours(GRAPH, result())


@pytest.mark.parametrize(
    "result", [{}, {"report": ""}, {"report": "3 results, 1 in sum"}], ids=["none", "empty", "wrong"]
)
def test_refuses_a_wrong_report_of_the_raw_workflow(result: dict[str, str]) -> None:
    with pytest.raises(BenchFailure, match="its graph gives '2 results, 1 in sum'"):
        check_raw(GRAPH, result)


def _result(
    *,
    status: RunStatus = RunStatus.SUCCEEDED,
    report: str | None = "2 results, 1 in sum",
    plan: tuple[NodeReport, ...] = NODES,
    tool_calls: int = 3,
) -> RunResult:
    budget = replace(BUDGET, tool_calls=tool_calls)
    return RunResult.model_construct(run_id="run", status=status, report=report, plan=plan, budget=budget)


def _with_node(**changes: object) -> tuple[NodeReport, ...]:
    return (NODES[0].model_copy(update=changes), *NODES[1:])
