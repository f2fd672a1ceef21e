"""Parts of a text that are searched for numbers are short, and together have all of them."""

from itertools import pairwise

import pytest

from activities.guardrails.number_runs import windows
from activities.guardrails.pii import find_private

CARD = "4111 1111 1111 1111"


@pytest.mark.parametrize("part", ["1234567 ", "+1 415 555 2671, ", "12345678\n", "1", "12:3456789;"])
def test_no_part_is_long(part: str) -> None:
    text = part * (100_000 // len(part))

    parts = list(windows(text))

    assert max(end - start for start, end in parts) < 6_000
    assert all(after[0] <= before[1] for before, after in pairwise(parts))


@pytest.mark.parametrize("before", range(4_000, 4_400, 7))
def test_a_value_where_parts_meet_is_found(before: int) -> None:
    text = f"{'12345678; ' * 400}{'x' * (before - 4_000)} {CARD}; {'12345678; ' * 400}"

    assert [each.value for each in find_private(text)] == [CARD]
