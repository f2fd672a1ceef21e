import pytest

from activities.toolkit import describe
from bench.contenders import options_for
from bench.shapes import REPORT, Vertex, critical_path_s, graph
from bench.toolkit import CARDS, TOOLKIT, answer_of
from harness.plan import Plan
from harness.validation import validate

NAMES = ["wide:10", "deep:10", "diamond:10", "wide:100", "deep:100", "diamond:100", "diamond:101", "diamond:1000"]


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_has_as_many_nodes_as_its_name_says(name: str) -> None:
    assert len(graph(name)) == int(name.partition(":")[2])


@pytest.mark.parametrize("name", [*NAMES, "fan_out:10", "random:1", "random:2"])
def test_a_vertex_comes_after_what_it_depends_on(name: str) -> None:
    seen: set[str] = set()
    for vertex in graph(name):
        assert set(vertex.deps) <= seen
        seen.add(vertex.id)


@pytest.mark.parametrize("name", [*NAMES, "fan_out:10", "random:1", "random:2"])
def test_the_plan_of_a_graph_is_valid(name: str) -> None:
    plan = Plan.model_validate_json(answer_of(name))
    options = options_for(len(plan.nodes))

    violations = validate(
        plan,
        describe(TOOLKIT, CARDS),
        max_nodes=options.max_plan_nodes,
        calls_left=options.limits.max_tool_calls,
    )

    assert not violations


def test_the_same_seed_gives_the_same_graph() -> None:
    graph.cache_clear()
    first = graph("random:3")
    graph.cache_clear()

    assert graph("random:3") == first != graph("random:4")


def test_the_critical_path_is_the_longest_sum_of_naps() -> None:
    vertices = (
        Vertex("a", "nap", {"ms": 100}),
        Vertex("b", "nap", {"ms": 250}),
        Vertex("c", "nap", {"ms": 50}, after=("a",)),
        Vertex("d", "nap", {"ms": 10}, after=("b", "c")),
        Vertex(REPORT, "report", inputs={"sources": ("d",)}),
    )

    assert critical_path_s(vertices) == pytest.approx(0.26)
