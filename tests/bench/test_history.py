"""What the benchmark tells of the histories of several runs."""

import pytest

from bench.history import HistorySize, middle_of


def size(events: int, *, largest: int = 0) -> HistorySize:
    return HistorySize(events, 10 * events, 0, 1, largest or events, 10 * (largest or events))


@pytest.mark.parametrize("events", [[5], [5, 9], [9, 5, 7], [7, 7, 5, 90]])
def test_the_run_in_the_middle_counts(events: list[int]) -> None:
    told = middle_of([size(each) for each in events])

    assert told.events == {(5,): 5, (5, 9): 5, (9, 5, 7): 7, (7, 7, 5, 90): 7}[tuple(events)]
    assert told.bytes == 10 * told.events


def test_the_longest_workflow_run_is_that_of_any_run() -> None:
    told = middle_of([size(10), size(12, largest=40), size(11)])

    assert (told.events, told.largest_run_events, told.largest_run_bytes) == (11, 40, 400)
