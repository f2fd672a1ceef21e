from pydantic import JsonValue

from harness.binding import reuse_key
from harness.catalog import ToolRole
from harness.reuse import MOST_BYTES_LOOKED_AT, call_of, reusable_results
from tests.builders import catalog, literal, node, plan, result_of, tool_spec

SEARCH = tool_spec("search", parameters={"query": {}})
CLOCK = tool_spec("clock", ageing=True)
REPORT = tool_spec("report", parameters={"text": {}}, role=ToolRole.FINAL_SYNTHESIS)
TOOLS = catalog(SEARCH, CLOCK, REPORT)


def paid(*queries: JsonValue) -> dict[str, JsonValue]:
    return {reuse_key(SEARCH, {"query": query}): f"found {query}" for query in queries}


def test_equal_call_takes_the_result_whatever_its_id() -> None:
    whole = plan(
        node("x", "search", arguments={"query": literal("games")}),
        node("y", "search", arguments={"query": literal("prices")}),
    )

    assert reusable_results(whole, TOOLS, paid("games")) == {"x": "found games"}


def test_reuse_goes_on_through_nodes_whose_sources_are_reused() -> None:
    whole = plan(
        node("second", "search", deps=["first"], arguments={"query": result_of("first")}),
        node("first", "search", arguments={"query": literal("games")}),
    )

    results = reusable_results(whole, TOOLS, paid("games", "found games"))

    assert results == {"first": "found games", "second": "found found games"}


def test_a_node_whose_source_is_not_reused_waits() -> None:
    whole = plan(
        node("first", "search", arguments={"query": literal("new")}),
        node("second", "search", deps=["first"], arguments={"query": result_of("first")}),
    )

    assert reusable_results(whole, TOOLS, paid("games")) == {}


def test_a_node_with_two_sources_waits_for_both() -> None:
    pair = tool_spec("pair", parameters={"a": {}, "b": {}})
    whole = plan(
        node("a", "search", arguments={"query": literal("a")}),
        node("b", "search", arguments={"query": literal("b")}),
        node("both", "pair", deps=["a", "b"], arguments={"a": result_of("a"), "b": result_of("b")}),
    )
    known = paid("a", "b") | {reuse_key(pair, {"a": "found a", "b": "found b"}): "both"}

    assert reusable_results(whole, catalog(SEARCH, pair), known) == {"a": "found a", "b": "found b", "both": "both"}


def test_reports_and_ageing_reads_are_never_reused() -> None:
    call = node("r", "report", arguments={"text": literal("x")})

    assert call_of(call, TOOLS, {}) is None
    assert call_of(node("c", "clock"), TOOLS, {}) is None
    assert call_of(node("g", "gone"), TOOLS, {}) is None


def test_invalid_plans_reuse_what_can_be_resolved() -> None:
    whole = plan(
        node("ghostly", "search", arguments={"query": result_of("ghost")}),
        node("same", "search", arguments={"query": literal("games")}),
        node("same", "search", arguments={"query": literal("games")}),
        node("self", "search", arguments={"query": result_of("self")}),
    )

    assert reusable_results(whole, TOOLS, paid("games")) == {"same": "found games"}


def test_a_part_that_does_not_exist_in_a_reused_result_is_left_to_execution() -> None:
    whole = plan(
        node("first", "search", arguments={"query": literal("games")}),
        node("second", "search", deps=["first"], arguments={"query": result_of("first", "/0")}),
    )

    assert reusable_results(whole, TOOLS, paid("games")) == {"first": "found games"}


def test_nothing_paid_is_nothing_reused() -> None:
    assert reusable_results(plan(node("x", "search")), TOOLS, {}) == {}


def test_of_large_calls_only_the_first_are_looked_at() -> None:
    large = "x" * (MOST_BYTES_LOOKED_AT // 20)  # a text may take six times as many bytes as it has characters
    queries = [f"{number}{large}" for number in range(5)]
    whole = plan(
        *(node(f"n{number}", "search", arguments={"query": literal(query)}) for number, query in enumerate(queries))
    )

    assert list(reusable_results(whole, TOOLS, paid(*queries))) == ["n0", "n1", "n2"]
