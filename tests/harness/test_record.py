from dataclasses import field, fields

import pytest

from harness.budget import Amount
from harness.record import record


@record(kw_only=True)
class Pair:
    left: int
    right: tuple[int, ...] = field(default_factory=tuple)


def test_records_are_values() -> None:
    assert Pair(left=1) == Pair(left=1, right=())
    assert len({Pair(left=1), Pair(left=1), Pair(left=2)}) == 2
    assert Amount(1, 2) == Amount(tokens=1, tool_calls=2)
    assert [each.name for each in fields(Pair)] == ["left", "right"]


def test_records_have_no_other_fields() -> None:
    with pytest.raises(AttributeError):
        Pair(left=1).middle = 3  # type: ignore[attr-defined]


def test_keywords_may_be_demanded() -> None:
    with pytest.raises(TypeError):
        Pair(1)  # type: ignore[misc]
