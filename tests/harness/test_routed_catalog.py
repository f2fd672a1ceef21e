from hypothesis import given
from hypothesis import strategies as st

from harness.catalog import ToolRole, Withheld
from harness.errors import ErrorClass, ErrorCode
from harness.recovery import FailedNode, FailureContext
from harness.routed_catalog import (
    Picked,
    RoutedBy,
    decision_data,
    needs_routing,
    picked_by_answer,
    picked_by_rule,
    routed,
    routing_of,
    routing_prompt_tokens,
    shown_to_planner,
    told_failures,
    wanted_tools,
)
from tests.builders import catalog, node, plan, tool_spec

REPORT = tool_spec("report", role=ToolRole.FINAL_SYNTHESIS)
THIRTY = catalog(*(tool_spec(f"t{number}") for number in range(29)), REPORT)


def failure(*wanted: str, message: str = "it failed", nodes: int = 0) -> FailureContext:
    failed = FailedNode(id="n", tool="t0", code=ErrorCode.MISSING_INFO, message="y" * 2000)
    return FailureContext(
        attempt=0,
        phase="VALIDATING",
        error_class=ErrorClass.VALIDATION,
        message=message,
        nodes=(failed,) * nodes,
        wanted=wanted,
    )


def test_routing_begins_with_the_tool_that_is_one_too_many() -> None:
    assert [needs_routing(THIRTY, most) for most in (29, 30, 31)] == [True, False, False]


def test_the_report_and_what_was_asked_for_take_their_room() -> None:
    routing = routing_of(THIRTY, 8, [failure("t3", "gone"), failure("t9")])

    assert [tool.name for tool in routing.finals] == ["report"]
    assert routing.wanted == ("t9", "t3")
    assert routing.room == 5
    assert "t3" not in {offer.name for offer in routing.offers}


def test_there_is_room_for_one_tool_beside_the_reports() -> None:
    assert routing_of(THIRTY, 1, []).room == 1


def test_more_tools_that_were_asked_for_than_there_is_room_leave_out_the_oldest() -> None:
    routing = routing_of(THIRTY, 3, [failure("t1", "t2"), failure("t5")])

    assert (routing.wanted, routing.room) == (("t5", "t1"), 0)


def test_an_answer_is_taken_in_its_order_without_repeats_and_unknown_names_are_noted() -> None:
    routing = routing_of(THIRTY, 4, [failure("t1")])

    picked = picked_by_answer(["t5", "rocket", "t5", "report", "t1", "t7", "t8"], routing)

    assert picked == Picked(RoutedBy.MODEL, ("t5", "t7"), ("rocket",))


@given(st.lists(st.sampled_from([tool.name for tool in THIRTY.tools] + ["rocket"])), st.integers(1, 31))
def test_whatever_is_answered_the_catalog_is_within_the_limit_and_has_the_report(answer: list[str], most: int) -> None:
    routing = routing_of(THIRTY, most, [failure("t4")])

    shown = routed(THIRTY, routing, picked_by_answer(answer, routing))

    names = [tool.name for tool in shown.tools]
    assert len(names) <= max(2, most)
    assert {"report", "t4"} <= set(names)
    assert sorted([*names, *shown.left_out]) == sorted(tool.name for tool in THIRTY.tools)


def test_the_decision_is_told_with_the_first_of_what_is_left_out() -> None:
    routing = routing_of(THIRTY, 3, [])
    picked = picked_by_rule("nothing", routing, has_failed=False, why="the call failed", unknown=("r" * 200,))

    data = decision_data(routed(THIRTY, routing, picked), picked)

    assert data["shown"] == ["t0", "t1", "report"]
    assert data["left_out"] == {"count": 27, "first": [f"t{number}" for number in range(2, 22)]}
    assert (data["by"], data["why"]) == ("rule", "the call failed")
    assert [len(str(name)) <= 100 for name in data["unknown"]] == [True]  # type: ignore[union-attr]


def test_a_decision_without_remarks_has_none() -> None:
    routing = routing_of(THIRTY, 3, [])
    picked = Picked(RoutedBy.MODEL, ("t0",))

    assert set(decision_data(routed(THIRTY, routing, picked), picked)) == {"shown", "left_out", "by"}


def test_a_planner_is_told_neither_of_withheld_nor_of_left_out_tools() -> None:
    cut = THIRTY.model_copy(update={"withheld": (Withheld(name="pay", reason="no"),), "left_out": ("t1",)})

    shown = shown_to_planner(cut)

    assert shown == THIRTY
    assert not {"withheld", "left_out"} & shown.model_dump(exclude_unset=True).keys()
    assert shown_to_planner(THIRTY) is THIRTY


def test_a_plan_wants_what_it_names_and_was_not_shown() -> None:
    cut = THIRTY.model_copy(update={"left_out": ("t1", "t2")})

    assert wanted_tools(plan(node("a", "t2"), node("b", "t2"), node("c", "t0"), node("d", "x")), cut) == ("t2",)


def test_a_routing_call_is_told_the_last_failures_in_short() -> None:
    told = told_failures([failure(message="old"), *[failure(message="z" * 2000, nodes=30)] * 3])

    assert len(told) == 3
    assert all(len(each.message) <= 500 and len(each.nodes) == 10 for each in told)
    assert all(len(each.nodes[0].message) <= 500 for each in told)


def test_the_prompt_is_estimated_from_all_that_it_holds() -> None:
    offers = routing_of(THIRTY, 8, []).offers

    assert routing_prompt_tokens("goal", offers, []) < routing_prompt_tokens("goal" * 9, offers, [])
    assert routing_prompt_tokens("goal", offers[:3], []) < routing_prompt_tokens("goal", offers, [])
    assert routing_prompt_tokens("goal", offers, []) < routing_prompt_tokens("goal", offers, [failure()])
