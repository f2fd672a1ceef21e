from datetime import timedelta
from typing import Any

import pytest

from activities.model.client import OpenAIModel
from activities.model.request import ModelError
from activities.planning import draft_plan
from activities.settings import WorkerSettings
from activities.toolkit import Report, Tool, Toolkit, tool
from activities.toolkits.games import TOOLKIT as GAMES
from harness.catalog import ToolRole
from harness.errors import ErrorClass, ErrorCode
from harness.plan import BindingType, Plan, PlanNode
from harness.recovery import FailedNode, FailureContext
from harness.validation import validate
from harness.violation import Violation
from tests.activities.model.planner_tools import (
    analyse,
    averages_report,
    delete_logs,
    finding_report,
    get_metrics,
    get_weather,
    levelled_report,
    metrics_report,
    read_clock,
    search_logs,
    sources_report,
)
from tests.activities.offline_run import plan_request

GOAL = "what broke the checkout on Monday"
TIMEOUT = timedelta(seconds=5)


async def _draft(
    toolkit: Toolkit, *, goal: str = GOAL, max_nodes: int = 20, failures: tuple[FailureContext, ...] = ()
) -> tuple[Plan, tuple[Violation, ...]]:
    request = plan_request(toolkit, goal, max_nodes=max_nodes, failures=failures)
    drafted = await draft_plan(OpenAIModel(WorkerSettings()), request, TIMEOUT)
    return drafted.plan, validate(drafted.plan, request.catalog, max_nodes=max_nodes, calls_left=50)


def _toolkit(*tools: Tool) -> Toolkit:
    return Toolkit(name="test", tools=tools)


def _bindings(node: PlanNode) -> dict[str, Any]:
    return {a.name: a.value.literal_value or list(a.value.source_node_ids) for a in node.arguments}


async def test_gathers_games_data_in_parallel_and_brings_it_together() -> None:
    plan, violations = await _draft(GAMES, goal="a calm game")

    assert not violations
    *data, report = plan.nodes
    assert [node.tool for node in data] == ["get_genre_facts", "get_genre_reviews", "get_games", "get_prices"]
    assert not any(node.deps or node.arguments for node in data)
    assert _bindings(report) == {
        "preferences": "a calm game",
        "genre_facts": ["genre_facts"],
        "genre_reviews": ["genre_reviews"],
        "games": ["games"],
        "prices": ["prices"],
    }


async def test_chains_analysis_between_data_and_report() -> None:
    plan, violations = await _draft(_toolkit(finding_report, analyse, search_logs, get_metrics, get_weather))

    assert not violations
    assert [node.tool for node in plan.nodes] == ["get_metrics", "search_logs", "analyse", "finding_report"]
    assert _bindings(plan.nodes[1]) == {"query": GOAL}
    assert _bindings(plan.nodes[2]) == {"metrics": ["metrics"], "log_lines": ["search_logs"]}
    assert _bindings(plan.nodes[3]) == {"question": GOAL, "finding": ["analyse"]}


async def test_a_list_of_anything_takes_every_result() -> None:
    plan, violations = await _draft(_toolkit(get_metrics, search_logs, get_weather, sources_report))

    assert not violations
    sources = plan.nodes[-1].arguments[1].value
    assert sources.type is BindingType.NODE_RESULTS
    assert sources.source_node_ids == ("metrics", "search_logs", "weather")


async def test_a_list_of_one_kind_takes_single_results_of_that_kind() -> None:
    plan, violations = await _draft(_toolkit(get_weather, search_logs, averages_report))

    assert not violations
    assert [node.tool for node in plan.nodes] == ["get_weather", "averages_report"]
    assert plan.nodes[-1].arguments[0].value.type is BindingType.NODE_RESULTS


async def test_tools_that_cannot_lead_to_the_report_and_writes_are_left_out() -> None:
    plan, violations = await _draft(_toolkit(delete_logs, read_clock, get_metrics, metrics_report))

    assert not violations
    assert [node.tool for node in plan.nodes] == ["get_metrics", "metrics_report"]


async def test_optional_parameters_are_bound_when_a_tool_is_made_for_them() -> None:
    plan, violations = await _draft(_toolkit(get_metrics, search_logs, metrics_report))

    assert not violations
    assert _bindings(plan.nodes[-1]) == {"metrics": ["metrics"], "log_lines": ["search_logs"]}


async def test_literals_fit_their_parameter() -> None:
    plan, violations = await _draft(_toolkit(get_metrics, levelled_report), goal="high load, at least 7")

    assert not violations
    assert _bindings(plan.nodes[-1]) == {"metrics": ["metrics"], "level": "high", "least": "7"}


@pytest.mark.parametrize(("max_nodes", "tools"), [(4, 4), (3, 3), (2, 2)])
async def test_never_more_nodes_than_allowed(max_nodes: int, tools: int) -> None:
    plan, violations = await _draft(
        _toolkit(get_metrics, search_logs, get_weather, sources_report), max_nodes=max_nodes
    )

    assert not violations
    assert len(plan.nodes) == tools


async def test_drops_what_the_report_can_do_without_when_nodes_are_few() -> None:
    plan, violations = await _draft(_toolkit(get_metrics, search_logs, metrics_report), max_nodes=2)

    assert not violations
    assert [node.tool for node in plan.nodes] == ["get_metrics", "metrics_report"]


async def test_writes_its_best_plan_when_none_can_be_correct() -> None:
    plan, violations = await _draft(GAMES, max_nodes=3)
    lame, reasons = await _draft(_toolkit(read_clock, finding_report))

    assert len(plan.nodes) == 5
    assert violations
    assert [node.tool for node in lame.nodes] == ["finding_report"]
    assert "finding" in reasons[0].message


@tool()
def flaky() -> int:
    """Count something."""
    return 3


@tool(role=ToolRole.FINAL_SYNTHESIS)
def say(count: int) -> Report:
    """Say a number."""
    return Report(report=f"{count}")


async def test_a_result_that_fits_comes_before_a_number_and_none_is_made_up() -> None:
    fed, violations = await _draft(_toolkit(flaky, say), goal="count 7 things")
    alone, refused = await _draft(_toolkit(say), goal="count things")

    assert not violations
    assert [node.tool for node in fed.nodes] == ["flaky", "say"]
    assert _bindings(alone.nodes[-1]) == {}
    assert "missing required arguments" in refused[0].message


def _failure(tool_name: str, code: ErrorCode) -> FailureContext:
    node = FailedNode(id="n", tool=tool_name, code=code, message="no")
    return FailureContext(
        attempt=0, phase="EXECUTING", error_class=ErrorClass.MISSING_INFO, message="no", nodes=(node,)
    )


@pytest.mark.parametrize(
    ("code", "is_kept"),
    [
        (ErrorCode.MISSING_INFO, False),
        (ErrorCode.TOOL_EXECUTION_FAILED, False),
        (ErrorCode.INVALID_OUTPUT, False),
        (ErrorCode.TIMEOUT, True),
        (ErrorCode.RATE_LIMITED, True),
    ],
)
async def test_leaves_out_a_tool_that_failed_for_good_if_the_report_allows_it(
    code: ErrorCode, *, is_kept: bool
) -> None:
    toolkit = _toolkit(get_metrics, search_logs, get_weather, sources_report)

    plan, violations = await _draft(toolkit, failures=(_failure("search_logs", code),))

    assert not violations
    assert ("search_logs" in {node.tool for node in plan.nodes}) is is_kept


async def test_keeps_a_failed_tool_that_the_report_requires() -> None:
    plan, violations = await _draft(GAMES, failures=(_failure("get_prices", ErrorCode.MISSING_INFO),))

    assert not violations
    assert "get_prices" in {node.tool for node in plan.nodes}


async def test_two_hundred_tools_are_planned_within_a_second() -> None:
    tools = []
    for number in range(200):

        def source() -> str:
            """Give a text."""
            return ""

        source.__name__ = f"get_source_{number}"
        tools.append(tool()(source))

    plan, violations = await _draft(_toolkit(*tools, sources_report), max_nodes=50)

    assert not violations
    assert len(plan.nodes) == 50


async def test_a_plan_that_is_longer_than_its_limit_is_cut_as_any_server_would() -> None:
    request = plan_request(GAMES, "a calm game").model_copy(update={"max_output_tokens": 20})

    with pytest.raises(ModelError) as caught:
        await draft_plan(OpenAIModel(WorkerSettings()), request, TIMEOUT)

    assert caught.value.code is ErrorCode.OUTPUT_TRUNCATED
    assert caught.value.usage.output_tokens > 0
