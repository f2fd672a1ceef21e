import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plan import Plan
from harness.schedule import NodeStatus, Schedule
from harness.validation import validate
from tests.builders import catalog, chain, fan, node, plan

PENDING, RUNNING, DONE, FAILED, SKIPPED, CANCELLED = NodeStatus


def ready(schedule: Schedule) -> Iterator[str]:
    """Start all nodes that may start now."""
    while (node_id := schedule.peek_ready()) is not None:
        schedule.start(node_id)
        yield node_id


def start_all(schedule: Schedule) -> list[str]:
    return list(ready(schedule))


@pytest.mark.parametrize(
    ("status", "is_terminal"),
    [(PENDING, False), (RUNNING, False), (DONE, True), (FAILED, True), (SKIPPED, True), (CANCELLED, True)],
)
def test_four_statuses_are_terminal(status: NodeStatus, *, is_terminal: bool) -> None:
    assert status.is_terminal is is_terminal


def test_starts_independent_nodes_at_once_in_plan_order() -> None:
    schedule = Schedule.of(plan(node("z"), node("a"), node("m", deps=["z"])))

    assert start_all(schedule) == ["z", "a"]


def test_a_ready_node_stays_first_until_it_starts() -> None:
    schedule = Schedule.of(plan(node("a"), node("b")))

    assert [schedule.peek_ready(), schedule.peek_ready()] == ["a", "a"]


def test_starts_a_node_after_its_last_dependency() -> None:
    schedule = Schedule.of(plan(node("a"), node("b"), node("c", deps=["a", "b", "a"])))
    start_all(schedule)

    assert schedule.finish("a") == ()
    assert schedule.peek_ready() is None
    assert schedule.finish("b") == ()
    assert schedule.peek_ready() == "c"


def test_starts_a_dependent_without_waiting_for_an_unrelated_slow_branch() -> None:
    schedule = Schedule.of(plan(node("a"), node("b"), node("c", deps=["a"]), node("d", deps=["b"])))
    start_all(schedule)

    schedule.finish("a")

    assert start_all(schedule) == ["c"]
    assert schedule.status["b"] is RUNNING


def test_released_nodes_start_in_plan_order_whatever_ended_first() -> None:
    schedule = Schedule.of(plan(node("a"), node("b"), node("c", deps=["a"]), node("d", deps=["b"])))
    start_all(schedule)

    schedule.finish("b")
    schedule.finish("a")

    assert start_all(schedule) == ["c", "d"]


def test_skips_dependents_of_a_failed_node() -> None:
    schedule = Schedule.of(plan(node("facts"), node("games", deps=["facts"]), node("report", deps=["games"])))
    start_all(schedule)

    assert schedule.fail("facts") == ("games", "report")
    assert schedule.status == {"facts": FAILED, "games": SKIPPED, "report": SKIPPED}
    assert schedule.is_finished


def test_skips_dependents_of_a_cancelled_node() -> None:
    schedule = Schedule.of(chain(2))
    start_all(schedule)

    assert schedule.cancel("n0") == ("report",)
    assert schedule.status == {"n0": CANCELLED, "report": SKIPPED}


def test_skips_roots_for_which_there_is_no_budget_with_their_dependents() -> None:
    schedule = Schedule.of(plan(node("a"), node("b"), node("c", deps=["a"]), node("d", deps=["b"])))
    schedule.start("a")

    assert schedule.skip("b") == ("d",)
    schedule.finish("a")
    assert schedule.skip("c") == ()
    assert schedule.status == {"a": DONE, "b": SKIPPED, "c": SKIPPED, "d": SKIPPED}


def test_independent_branches_go_on_after_a_failure() -> None:
    schedule = Schedule.of(plan(node("a"), node("b"), node("c", deps=["b"])))
    start_all(schedule)

    schedule.fail("a")
    schedule.finish("b")

    assert schedule.peek_ready() == "c"


def test_a_node_is_skipped_only_when_all_its_dependencies_have_ended() -> None:
    schedule = Schedule.of(plan(node("a"), node("slow"), node("c", deps=["a", "slow"])))
    start_all(schedule)

    assert schedule.fail("a") == ()
    assert schedule.status["c"] is PENDING
    assert schedule.finish("slow") == ("c",)
    assert schedule.is_finished


def test_the_first_end_of_a_node_counts() -> None:
    schedule = Schedule.of(plan(node("a"), node("b", deps=["a"]), node("c", deps=["a", "b"])))
    start_all(schedule)
    schedule.finish("a")

    assert schedule.fail("a") == ()
    assert schedule.finish("a") == ()
    assert schedule.status == {"a": DONE, "b": PENDING, "c": PENDING}
    assert start_all(schedule) == ["b"]


def test_a_node_that_was_skipped_stays_skipped_when_its_dependencies_end_well() -> None:
    schedule = Schedule.of(plan(node("a"), node("b", deps=["a"]), node("c", deps=["b"])))
    start_all(schedule)

    assert schedule.skip("b") == ("c",)
    schedule.finish("a")

    assert schedule.is_finished
    assert schedule.peek_ready() is None


def test_done_nodes_of_an_earlier_execution_are_not_started_again() -> None:
    diamond = plan(node("a"), node("b", deps=["a"]), node("c", deps=["a"]), node("d", deps=["b", "c"]))

    schedule = Schedule.of(diamond, dict.fromkeys("ca", NodeStatus.DONE))

    assert schedule.status == {"a": DONE, "b": PENDING, "c": DONE, "d": PENDING}
    assert start_all(schedule) == ["b"]
    schedule.finish("b")
    assert start_all(schedule) == ["d"]


def test_a_done_node_whose_dependency_is_not_done_stays_done() -> None:
    schedule = Schedule.of(chain(3), {"n1": NodeStatus.DONE})

    assert start_all(schedule) == ["n0", "report"]
    assert schedule.fail("n0") == ()
    assert schedule.status == {"n0": FAILED, "n1": DONE, "report": RUNNING}


def test_everything_done_is_finished() -> None:
    schedule = Schedule.of(chain(2), dict.fromkeys(("report", "n0"), NodeStatus.DONE))

    assert schedule.is_finished
    assert not schedule.is_stalled


def test_empty_plan_is_finished() -> None:
    assert Schedule.of(plan()).is_finished


@pytest.mark.parametrize(
    "whole",
    [plan(node("a", deps=["a"])), plan(node("ok"), node("a", deps=["b"]), node("b", deps=["a"]))],
    ids=["self", "two"],
)
def test_pending_nodes_with_nothing_ready_or_running_are_a_stall(whole: Plan) -> None:
    schedule = Schedule.of(whole)
    for node_id in ready(schedule):
        assert not schedule.is_stalled
        schedule.finish(node_id)

    assert schedule.is_stalled
    assert not schedule.is_finished


@pytest.mark.parametrize("build", [chain, fan])
def test_ten_thousand_nodes_take_little_time(build: Callable[[int], Plan]) -> None:
    whole = build(10_000)
    started = time.process_time()

    schedule = Schedule.of(whole)
    for node_id in ready(schedule):
        schedule.finish(node_id)
    failed = Schedule.of(whole)
    failed.start("n0")
    failed.fail("n0")

    assert schedule.is_finished
    assert time.process_time() - started < 2


_BACK = st.sampled_from([1, 1, 1, 2, 2, 3, 4])
_ANY = st.sampled_from([1, 2, 3, 0, -1, -2, 99])
"""How far a dependency lies before its node; 0 is the node itself, and 99 is no node."""
_SHAPES = st.one_of(
    st.lists(st.lists(_BACK, max_size=3), min_size=1, max_size=8),
    st.lists(st.lists(_ANY, max_size=2), min_size=1, max_size=8),
)


def shaped(offsets: list[list[int]]) -> Plan:
    reads = [
        node(f"n{i}", deps=[f"n{i - back}" for back in each if back == 99 or i - back >= 0])
        for i, each in enumerate(offsets)
    ]
    return plan(*reads, node("report", "report", deps=[read.id for read in reads]))


@settings(max_examples=200)
@given(_SHAPES, st.integers(1, 4), st.data())
def test_any_plan_is_refused_or_ends(offsets: list[list[int]], width: int, data: st.DataObject) -> None:
    whole = shaped(offsets)
    if validate(whole, catalog(), max_nodes=9, calls_left=9):
        return
    deps = {each.id: each.deps for each in whole.nodes}
    schedule = Schedule.of(whole)
    skipped, running = list[str](), list[str]()

    while not schedule.is_finished:
        assert not schedule.is_stalled
        while len(running) < width and (node_id := schedule.peek_ready()) is not None:
            assert all(schedule.status[dep] is DONE for dep in deps[node_id])
            schedule.start(node_id)
            running.append(node_id)
        ended = running.pop(data.draw(st.integers(0, len(running) - 1)))
        end = data.draw(
            st.sampled_from([schedule.finish, schedule.finish, schedule.fail, schedule.cancel, schedule.skip])
        )
        skipped += [*end(ended), *([ended] if end == schedule.skip else [])]

    assert all(status.is_terminal for status in schedule.status.values())
    assert sorted(skipped) == sorted(node_id for node_id, status in schedule.status.items() if status is SKIPPED)
    assert not schedule.is_stalled


@given(_SHAPES)
def test_refused_shapes_are_those_that_would_stall(offsets: list[list[int]]) -> None:
    whole = shaped(offsets)
    ids = {each.id for each in whole.nodes}
    is_valid = not validate(whole, catalog(), max_nodes=9, calls_left=9)
    if any(dep not in ids for each in whole.nodes for dep in each.deps):
        assert not is_valid
        return
    schedule = Schedule.of(whole)
    for node_id in ready(schedule):
        schedule.finish(node_id)

    assert schedule.is_finished is is_valid
    assert schedule.is_stalled is not is_valid


def test_what_is_done_stays_so_whatever_became_of_what_it_depends_on() -> None:
    drawn = plan(node("a"), node("b", deps=["a"]), node("c", deps=["b"]))

    schedule = Schedule.of(drawn, {"a": NodeStatus.FAILED, "b": NodeStatus.DONE})

    assert schedule.status == {"a": NodeStatus.FAILED, "b": NodeStatus.DONE, "c": NodeStatus.PENDING}
    assert schedule.peek_ready() == "c"
