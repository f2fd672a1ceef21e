import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.artifact import StoredResult
from harness.errors import ErrorClass
from harness.progress import NodeProgress, StatePage, merged
from harness.run import AttemptRecord, RunPhase
from harness.schedule import NodeStatus
from tests.builders import catalog, chain

results = st.dictionaries(
    st.sampled_from("abc"), st.builds(StoredResult.of, st.integers(0, 3) | st.text(max_size=2)), max_size=3
)
nodes = st.dictionaries(
    st.sampled_from(("n0", "n1", "report")),
    st.builds(NodeProgress, status=st.sampled_from(NodeStatus), tries=st.integers(0, 3)),
    max_size=3,
)
records = st.builds(
    AttemptRecord,
    attempt=st.integers(0, 3),
    phase=st.just(RunPhase.EXECUTING),
    error_class=st.sampled_from(ErrorClass),
    error=st.just("why"),
)
pages = st.builds(
    StatePage, paid=results, written=results, attempts=st.lists(records, max_size=2).map(tuple), nodes=nodes
)


def as_json(page: StatePage) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(page.model_dump_json(exclude_unset=True))
    return decoded


def progress(status: NodeStatus, **rest: Any) -> dict[str, NodeProgress]:
    return {"n0": NodeProgress(status=status, **rest)}


def test_no_page_says_nothing() -> None:
    assert merged([]) == {}
    assert merged([{}, {}]) == {}
    assert StatePage.model_validate(merged([])) == StatePage()


def test_a_later_page_replaces_equal_keys_and_adds_the_rest() -> None:
    first = {"nodes": {"a": {"status": "RUNNING", "error": "lost"}, "b": {"status": "DONE"}}, "attempts": [1]}
    second = {"nodes": {"c": {"status": "DONE"}, "a": {"status": "DONE"}}, "attempts": [2, 3]}

    assert merged([first, second]) == {
        "nodes": {"a": {"status": "DONE"}, "b": {"status": "DONE"}, "c": {"status": "DONE"}},
        "attempts": [1, 2, 3],
    }


def test_a_node_is_replaced_whole_so_that_nothing_old_shines_through() -> None:
    failed = StatePage(nodes=progress(NodeStatus.FAILED, error="lost"))
    done = StatePage(nodes=progress(NodeStatus.DONE, result=StoredResult.of(5)))

    whole = StatePage.model_validate(merged([as_json(failed), as_json(done)]))

    assert whole.nodes == progress(NodeStatus.DONE, result=StoredResult.of(5))


def test_what_only_the_first_page_says_stays() -> None:
    first = StatePage(
        catalog=catalog(), plan=chain(2).model_dump_json(), planned_by="m", paid={"k": StoredResult.of(1)}
    )
    second = StatePage(nodes=progress(NodeStatus.DONE))

    whole = StatePage.model_validate(merged([as_json(first), as_json(second)]))

    assert whole == first.model_copy(update={"nodes": second.nodes})


@given(st.lists(pages, max_size=4))
def test_pages_together_say_what_their_parts_say_one_after_the_other(some: list[StatePage]) -> None:
    paid: dict[str, StoredResult] = {}
    written: dict[str, StoredResult] = {}
    known: dict[str, NodeProgress] = {}
    attempts: tuple[AttemptRecord, ...] = ()
    for page in some:
        paid.update(page.paid)
        written.update(page.written)
        known.update(page.nodes)
        attempts += page.attempts

    whole = StatePage.model_validate(merged(map(as_json, some)))

    assert whole == StatePage(paid=paid, written=written, attempts=attempts, nodes=known)
    assert list(whole.paid) == list(paid)


@given(st.lists(pages, max_size=4), st.integers(0, 4))
def test_it_makes_no_difference_how_pages_are_taken_together(some: list[StatePage], cut: int) -> None:
    parts = [as_json(page) for page in some]

    assert merged([merged(parts[:cut]), merged(parts[cut:])]) == merged(parts)


@given(st.lists(pages, min_size=1, max_size=3))
def test_pages_are_not_changed(some: list[StatePage]) -> None:
    parts = [as_json(page) for page in some]

    merged(parts)

    assert parts == [as_json(page) for page in some]


@pytest.mark.parametrize("status", list(NodeStatus))
def test_a_node_without_more_to_say_costs_its_status_only(status: NodeStatus) -> None:
    page = StatePage(nodes=progress(status))

    assert page.model_dump_json(exclude_unset=True) == f'{{"nodes":{{"n0":{{"status":"{status}"}}}}}}'
