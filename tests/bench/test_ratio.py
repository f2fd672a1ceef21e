from random import Random
from statistics import median, stdev

import pytest

from bench.ratio import LEAST_TURNS, standard_error


def test_knows_nothing_of_a_ratio_from_few_turns() -> None:
    assert standard_error([1.0] * (LEAST_TURNS - 1), [2.0] * (LEAST_TURNS - 1)) is None


def test_refuses_sides_that_have_not_run_in_the_same_turns() -> None:
    with pytest.raises(ValueError, match="shorter"):
        standard_error([1.0] * 6, [2.0] * 5)


def test_does_not_count_what_disturbs_both_sides_of_a_turn() -> None:
    slow = [1.0, 1.5, 1.1, 2.0, 1.2, 1.7, 1.3]

    shared = standard_error([1.05 * time for time in slow], slow)
    apart = standard_error([1.05 * time for time in reversed(slow)], slow)

    assert shared == pytest.approx(0.0, abs=1e-9)
    assert apart is not None
    assert apart > 0.05


def test_tells_the_scatter_that_measuring_again_and_again_shows() -> None:
    random = Random(1)

    def times() -> list[float]:
        return [random.gauss(1.0, 0.1) for _ in range(25)]

    series = [(times(), times()) for _ in range(200)]
    told = [standard_error(*pair) for pair in series[:40]]

    assert all(told)
    scatter = stdev(median(ours) / median(raw) for ours, raw in series)
    assert sum(error or 0.0 for error in told) / len(told) == pytest.approx(scatter, rel=0.25)
