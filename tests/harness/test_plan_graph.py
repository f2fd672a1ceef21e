from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from harness.plan_graph import find_cycles, reachable

IDS = list("abcdefg")


def test_finds_nothing_in_a_graph_without_cycles() -> None:
    assert find_cycles({"a": ["b", "c"], "b": ["c"], "c": []}) == []


def test_path_starts_at_the_first_node_in_plan_order_and_ends_there() -> None:
    assert find_cycles({"x": ["b"], "a": ["b"], "b": ["c"], "c": ["a"]}) == [("a", "b", "c", "a")]


def test_path_is_a_shortest_one() -> None:
    assert find_cycles({"a": ["b", "c"], "b": ["c"], "c": ["d"], "d": ["a"]}) == [("a", "c", "d", "a")]


def test_reports_each_set_of_nodes_once() -> None:
    edges = {"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["e", "c"], "e": ["c"]}

    assert find_cycles(edges) == [("a", "b", "a"), ("c", "d", "c")]


def test_a_node_that_leads_to_itself_is_not_reported_here() -> None:
    assert find_cycles({"a": ["a"], "b": ["b", "c"], "c": ["b"]}) == [("b", "c", "b")]


def test_reaches_what_a_node_leads_to_directly_or_through_others() -> None:
    assert reachable("a", {"a": ["b"], "b": ["c", "a"], "c": [], "d": ["a"]}.__getitem__) == {"a", "b", "c"}


@given(st.fixed_dictionaries({node: st.lists(st.sampled_from(IDS), max_size=3) for node in IDS}))
def test_cycles_are_paths_and_cover_every_node_on_one(edges: dict[str, list[str]]) -> None:
    cycles = find_cycles(edges)

    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle[:-1])) == len(cycle) - 1 >= 2
        assert all(target in edges[node] for node, target in pairwise(cycle))
    components = [reachable(cycle[0], edges.__getitem__) for cycle in cycles]
    for node in IDS:
        partners = {
            other for other in reachable(node, edges.__getitem__) if node in reachable(other, edges.__getitem__)
        } - {node}
        found = [
            c
            for c, reached in zip(cycles, components, strict=True)
            if node in reached and c[0] in reachable(node, edges.__getitem__)
        ]
        assert len(found) == (1 if partners else 0)
