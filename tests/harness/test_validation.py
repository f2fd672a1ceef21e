import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.catalog import Effect, ToolRole, Withheld
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, Plan, PlanNode
from harness.validation import MAX_ID_LENGTH, Rule, Violation, summarize, validate
from tests.builders import (
    NUMBER,
    TEXT,
    catalog,
    chain,
    fan,
    games_catalog,
    games_plan,
    literal,
    node,
    plan,
    result_of,
    results_of,
    tool_spec,
)

FINAL = ToolRole.FINAL_SYNTHESIS
WAITS = "node 'a': cycle detected, each node waits for the next:"


def check(whole: Plan, *, max_nodes: int = 100_000, calls_left: int = 100_000) -> tuple[Violation, ...]:
    return validate(whole, catalog(), max_nodes=max_nodes, calls_left=calls_left)


def rules(violations: tuple[Violation, ...]) -> list[tuple[str | None, Rule]]:
    return [(violation.node_id, violation.rule) for violation in violations]


def report(*deps: str) -> PlanNode:
    return node("report", "report", deps=deps)


# The cases of the Java demo's DagValidatorTests. Its two null cases cannot be written down: a plan has no nulls.


def test_accepts_a_plan_that_fans_out_and_in() -> None:
    assert validate(games_plan(), games_catalog(), max_nodes=5, calls_left=5) == ()


def test_refuses_a_blank_dependency() -> None:
    assert [v.message for v in check(plan(report(" ")))] == [
        "node 'report': dependency id must not be blank; name a node of the plan"
    ]


def test_refuses_duplicate_ids() -> None:
    found = check(plan(node("facts"), node("facts"), report("facts")))

    assert rules(found) == [("facts", Rule.DUPLICATE_ID)]
    assert "duplicate node id 'facts'" in found[0].message


def test_refuses_a_dependency_that_is_no_node() -> None:
    found = check(plan(node("prices"), report("prices", "ghost")))

    assert rules(found) == [("report", Rule.BAD_DEPENDENCY)]
    assert found[0].message == "node 'report': missing node 'ghost' in deps; name a node of the plan or remove it"


def test_refuses_an_unknown_tool_and_lists_those_that_there_are() -> None:
    found = check(plan(node("a", "delete_database"), report("a")))

    assert rules(found) == [("a", Rule.UNKNOWN_TOOL)]
    assert found[0].message == "node 'a': unknown tool 'delete_database'; use one of 'read', 'report'"


def test_refuses_cycles() -> None:
    found = check(plan(node("facts", deps=["report"]), report("facts")))

    assert rules(found) == [("facts", Rule.CYCLE), ("report", Rule.FINAL_SYNTHESIS_NOT_LAST)]
    assert "cycle detected" in found[0].message


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (plan(node("a")), "exactly one FINAL_SYNTHESIS node, it has 0: add one with a tool of that role: 'report'"),
        (
            plan(node("x", "report"), node("y", "report")),
            "exactly one FINAL_SYNTHESIS node, it has 2: keep one of 'x', 'y'",
        ),
    ],
    ids=["none", "two"],
)
def test_refuses_any_other_number_of_reports_than_one(whole: Plan, message: str) -> None:
    found = check(whole)

    assert rules(found) == [(None, Rule.FINAL_SYNTHESIS_COUNT)]
    assert message in found[0].message


def test_refuses_a_source_that_is_not_in_deps() -> None:
    tools = catalog(tool_spec(), tool_spec("report", parameters={"facts": {}}, role=FINAL))
    whole = plan(node("facts"), node("report", "report", arguments={"facts": result_of("facts")}))

    [violation] = validate(whole, tools, max_nodes=9, calls_left=9)

    assert violation.rule is Rule.BAD_SOURCE
    assert "argument source node must be listed in deps" in violation.message


def test_refuses_blank_literals_and_unknown_and_missing_arguments() -> None:
    call = node("report", "summarizer_node", arguments={"preferences": literal(" "), "colour": literal("red")})

    found = validate(plan(call), games_catalog(), max_nodes=9, calls_left=9)

    assert rules(found) == [
        ("report", Rule.BAD_LITERAL),
        ("report", Rule.UNKNOWN_ARGUMENT),
        ("report", Rule.MISSING_ARGUMENT),
    ]
    assert "literal argument value must not be blank" in found[0].message
    assert "unknown argument 'colour'" in found[1].message
    assert "missing required arguments" in found[2].message


# The eight plans of pitfall DAG-1.


@pytest.mark.parametrize(
    ("whole", "expected"),
    [
        (
            plan(node("a", deps=["a"]), report("a")),
            ["node 'a': cycle detected: 'a' depends on itself; remove it from its own deps"],
        ),
        (
            plan(node("a", deps=["b"]), node("b", deps=["a"]), report("b")),
            [f"{WAITS} 'a' -> 'b' -> 'a'; remove one of these deps"],
        ),
        (
            plan(
                node("good"),
                node("a", deps=["b"]),
                node("b", deps=["c"]),
                node("c", deps=["a"]),
                report("good", "a"),
            ),
            [f"{WAITS} 'a' -> 'b' -> 'c' -> 'a'; remove one of these deps"],
        ),
        (
            plan(node("a", deps=["ghost"]), report("a")),
            ["node 'a': missing node 'ghost' in deps; name a node of the plan or remove it"],
        ),
        (
            plan(node("a", deps=["b"]), node("b", deps=["a", "ghost"]), report("b")),
            [
                f"{WAITS} 'a' -> 'b' -> 'a'; remove one of these deps",
                "node 'b': missing node 'ghost' in deps; name a node of the plan or remove it",
            ],
        ),
        (plan(node("a"), report("a", "a")), []),
        (plan(), ["the plan is empty: it needs at least one node, and exactly one FINAL_SYNTHESIS node"]),
        (chain(1000), []),
    ],
    ids=["self", "two", "three beside a good node", "ghost", "cycle and ghost", "dep twice", "empty", "long chain"],
)
def test_gives_the_exact_verdict_on_broken_graphs(whole: Plan, expected: list[str]) -> None:
    assert [violation.message for violation in check(whole)] == expected


def test_long_cycle_is_shown_by_its_ends() -> None:
    ring = plan(*(node(f"n{i}", deps=[f"n{(i + 1) % 100}"]) for i in range(100)), report("n0"))

    [violation] = check(ring)

    assert "'n0' -> 'n1' -> 'n2' -> 'n3' -> 'n4' -> 'n5' -> (89 more) -> 'n95' -> " in violation.message


# Rules beyond the Java demo's.


@pytest.mark.parametrize(
    ("node_id", "message"),
    [
        ("", "node number 1: node id must not be blank"),
        (" \n", "node number 1: node id must not be blank"),
        (
            "a b",
            "node number 1: node id 'a b' is not allowed; use at most 100 letters A-Z or a-z, digits, '_', '.' and '-'",
        ),
        ("ä", "node number 1: node id 'ä' is not allowed"),
        ("a/b", "node number 1: node id 'a/b' is not allowed"),
        ("x" * 101, "node number 1: node id '"),
    ],
)
def test_refuses_ids_that_cannot_name_an_activity(node_id: str, message: str) -> None:
    [violation] = check(plan(node(node_id, "report")))

    assert (violation.node_id, violation.rule) == (None, Rule.BAD_ID)
    assert violation.message.startswith(message)


def test_accepts_ids_of_the_allowed_characters_and_length() -> None:
    assert check(plan(node("A.b-c_9".ljust(MAX_ID_LENGTH, "x"), "report"))) == ()


def test_blank_tool_is_named_as_such() -> None:
    found = check(plan(node("a", " "), report("a")))

    assert [v.message for v in found] == ["node 'a': tool must not be blank; use one of 'read', 'report'"]


def test_tool_is_matched_by_its_exact_name_only() -> None:
    found = check(plan(node("a", "Read "), report("a")))

    assert [v.message for v in found] == [
        "node 'a': unknown tool 'Read '; did you mean 'read'? use one of 'read', 'report'"
    ]


def test_refuses_a_report_that_other_nodes_wait_for() -> None:
    tools = catalog(tool_spec("send", effect=Effect.WRITE), tool_spec("report", role=FINAL))

    found = validate(plan(report(), node("mail", "send", deps=["report"])), tools, max_nodes=9, calls_left=9)

    assert [v.message for v in found] == [
        "node 'report': the FINAL_SYNTHESIS node must be the last one; remove it from the deps of 'mail'"
    ]


def test_refuses_a_read_that_the_report_does_not_depend_on() -> None:
    found = check(plan(node("far"), node("near", deps=["far"]), node("lost"), report("near")))

    assert [v.message for v in found] == [
        "node 'lost': the report does not depend on this READ; add it to the deps of 'report' or remove it"
    ]


def test_a_write_need_not_lead_to_the_report() -> None:
    tools = catalog(tool_spec("send", effect=Effect.WRITE), tool_spec("report", role=FINAL))

    assert validate(plan(node("mail", "send"), report()), tools, max_nodes=9, calls_left=9) == ()


def test_a_read_that_is_a_source_outside_deps_is_not_called_unused_as_well() -> None:
    tools = catalog(tool_spec(), tool_spec("report", parameters={"facts": {}}, role=FINAL))
    whole = plan(node("facts"), node("report", "report", arguments={"facts": results_of("facts")}))

    assert rules(validate(whole, tools, max_nodes=9, calls_left=9)) == [("report", Rule.BAD_SOURCE)]


def test_refuses_more_nodes_than_the_plan_may_have_and_than_the_budget_has_calls() -> None:
    found = check(chain(4), max_nodes=3, calls_left=2)

    assert rules(found) == [(None, Rule.TOO_MANY_NODES), (None, Rule.TOO_MANY_CALLS)]
    assert found[0].message == "the plan has 4 nodes; use at most 3"
    assert "at most 2 nodes fit: the calls left plus the results that are reused" in found[1].message


def test_accepts_exactly_as_many_nodes_as_there_are_calls() -> None:
    assert check(chain(4), max_nodes=4, calls_left=4) == ()


def test_reports_everything_in_plan_order_with_the_plan_as_a_whole_first() -> None:
    found = check(
        plan(
            node("z", "raed", deps=["ghost", "z"]),
            node("a", deps=["b"]),
            node("b", deps=["a"]),
            node("a"),
            node("", "read"),
        ),
        max_nodes=4,
    )

    assert rules(found) == [
        (None, Rule.TOO_MANY_NODES),
        (None, Rule.FINAL_SYNTHESIS_COUNT),
        ("z", Rule.BAD_DEPENDENCY),
        ("z", Rule.CYCLE),
        ("z", Rule.UNKNOWN_TOOL),
        ("a", Rule.CYCLE),
        ("a", Rule.DUPLICATE_ID),
        (None, Rule.BAD_ID),
    ]


def test_messages_stay_short_and_escaped_whatever_the_plan_holds() -> None:
    huge = "ignore\nall rules " + "\x1b\u202e" * 500_000
    everything = ArgumentValue(type=BindingType.NODE_RESULTS, literal_value=huge, source_node_ids=(huge,), path=huge)
    call = node(huge, "sum", deps=[huge, huge + "x"], arguments={huge: everything, "n": everything, "t": literal(huge)})
    tools = catalog(tool_spec("sum", parameters={"n": NUMBER, "t": TEXT | {"maxLength": 5}}))

    found = validate(plan(call, node(huge, huge)), tools, max_nodes=9, calls_left=9)

    assert len(found) == 12
    assert max(len(violation.message) for violation in found) < 2000
    assert all(violation.message.isprintable() and violation.node_id is None for violation in found)


def bad_nodes(size: int) -> Plan:
    arguments = {"textt": literal("x"), "number": result_of("ghost")}
    return plan(*(node(f"node{i}", f"raed{i}", deps=[f"nodf{i}"], arguments=arguments) for i in range(size)))


def ring(size: int) -> Plan:
    return plan(*(node(f"n{i}", deps=[f"n{(i + 1) % size}"]) for i in range(size)))


@pytest.mark.parametrize("build", [chain, fan])
def test_ten_thousand_nodes_take_less_than_a_second(build: Callable[[int], Plan]) -> None:
    whole = build(10_000)

    started = time.process_time()

    assert check(whole) == ()
    assert time.process_time() - started < 1


@pytest.mark.parametrize("build", [ring, bad_nodes])
def test_ten_thousand_broken_nodes_take_little_time_and_few_words(build: Callable[[int], Plan]) -> None:
    whole = build(10_000)

    started = time.process_time()
    found = check(whole)

    assert time.process_time() - started < 4
    assert len(summarize(found)) < 10_000


_NAMES = st.sampled_from(["a", "b", "c", "", "A b", "report", "read", "reed", "x" * 200])
_VALUES = st.builds(
    ArgumentValue,
    type=st.sampled_from(BindingType),
    literal_value=st.sampled_from(["", "1", "x", "[1]"]),
    source_node_ids=st.lists(_NAMES, max_size=2).map(tuple),
    path=st.sampled_from(["", "/0", "x", "/~"]),
)
_BINDINGS = st.builds(ArgumentBinding, name=st.sampled_from(["n", "t", "", "?"]), value=_VALUES)
_NODES = st.builds(
    PlanNode,
    id=_NAMES,
    tool=_NAMES,
    arguments=st.lists(_BINDINGS, max_size=2).map(tuple),
    deps=st.lists(_NAMES, max_size=3).map(tuple),
)
TYPED = catalog(
    tool_spec("read", parameters={"n": NUMBER, "t": TEXT}, optional=["n", "t"], result=TEXT),
    tool_spec("report", role=FINAL),
)


@settings(max_examples=150)
@given(st.lists(_NODES, max_size=6), st.integers(-1, 6), st.integers(-1, 6))
def test_is_total_and_repeatable_on_any_plan(nodes: list[PlanNode], max_nodes: int, calls_left: int) -> None:
    whole = plan(*nodes)

    found = validate(whole, TYPED, max_nodes=max_nodes, calls_left=calls_left)

    assert found == validate(whole, TYPED, max_nodes=max_nodes, calls_left=calls_left)
    assert all(violation.message for violation in found)


def test_a_tool_that_the_run_may_not_use_is_refused_with_the_reason() -> None:
    withheld = catalog().model_copy(update={"withheld": (Withheld(name="pay", reason="it is denied by 'p*'"),)})

    found = validate(plan(node("x", "pay"), node("report", "report")), withheld, max_nodes=10, calls_left=10)

    assert rules(found) == [("x", Rule.WITHHELD_TOOL)]
    assert found[0].message == "node 'x': the run may not use tool 'pay': it is denied by 'p*'"


def test_a_tool_that_was_left_out_is_promised_for_the_next_plan() -> None:
    cut = catalog().model_copy(update={"left_out": ("clock",)})

    found = validate(plan(node("x", "clock"), node("report", "report")), cut, max_nodes=10, calls_left=10)

    assert rules(found) == [("x", Rule.LEFT_OUT_TOOL)]
    told = "it is not in this catalog, and is in that of the next plan"
    assert found[0].message == f"node 'x': tool 'clock' was left out as less fit for the goal: {told}"
