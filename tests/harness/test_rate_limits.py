from datetime import timedelta
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.catalog import RateLimit, ToolSpec
from harness.rate_limits import ALONE, LONGEST_ROUND_S, Place, limit_of, limit_of_models, limits_of, next_turn

OWN = RateLimit(name="own", per_second=2)
MODEL = RateLimit(name="model", per_second=3)


def spec(limit: RateLimit | None = None, tokens: int = 0) -> ToolSpec:
    return ToolSpec(
        name="a",
        description="A",
        parameters={},
        result={},
        timeout=timedelta(seconds=1),
        rate_limit=limit,
        max_model_tokens=tokens,
    )


@pytest.mark.parametrize(
    ("tool", "model_rate", "expected"),
    [
        (spec(), None, None),
        (spec(), 3, None),
        (spec(OWN), None, OWN),
        (spec(OWN, tokens=1), 3, OWN),
        (spec(tokens=1), 3, MODEL),
        (spec(tokens=1), None, None),
    ],
    ids=["none", "calls no model", "own", "own before that of models", "of models", "models without"],
)
def test_a_tool_keeps_its_own_limit_or_that_of_the_models_it_calls(
    tool: ToolSpec, model_rate: float | None, expected: RateLimit | None
) -> None:
    assert limit_of(tool, model_rate) == expected


def test_models_have_a_limit_when_they_have_a_rate() -> None:
    assert limit_of_models(None) is None
    assert limit_of_models(3) == MODEL


def test_limits_are_those_of_the_tools_and_of_the_models() -> None:
    assert limits_of([spec(), spec(OWN), spec(OWN)], None) == {"own": 2}
    assert limits_of([spec(OWN)], 3) == {"own": 2, "model": 3}


def test_a_worker_that_is_alone_starts_at_once_and_then_at_the_rate() -> None:
    assert next_turn(10.03, -inf, 5, ALONE) == 10.03
    assert next_turn(10.05, 10.03, 5, ALONE) == pytest.approx(10.23)


def test_workers_take_turns() -> None:
    turns = [next_turn(100.01, -inf, 5, Place(rank, 3)) for rank in range(3)]

    assert sorted(turns) == pytest.approx([100.2, 100.4, 100.6])


def test_a_turn_comes_once_a_round() -> None:
    first = next_turn(100.01, -inf, 5, Place(1, 3))

    assert next_turn(100.01, first, 5, Place(1, 3)) == pytest.approx(first + 0.6)


def test_many_workers_of_a_slow_limit_leave_it_to_the_server() -> None:
    assert next_turn(10.0, -inf, 1, Place(3, int(LONGEST_ROUND_S) + 1)) == 10.0


@given(st.floats(0.1, 1000), st.integers(1, 20), st.floats(0, 1e6))
def test_no_two_workers_have_the_same_turn(per_second: float, workers: int, now: float) -> None:
    if workers / per_second > LONGEST_ROUND_S or workers == 1:
        return
    turns = sorted(next_turn(now, -inf, per_second, Place(rank, workers)) for rank in range(workers))

    gaps = [after - before for before, after in pairwise(turns)]
    assert min(turns) >= now - 1e-6
    assert all(gap == pytest.approx(1 / per_second, rel=0.01, abs=1e-6) for gap in gaps)
