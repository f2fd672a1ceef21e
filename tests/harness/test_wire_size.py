import pytest
from pydantic import BaseModel

from harness.wire_size import Room, depth_of, encoded_size


class Item(BaseModel):
    name: str = ""
    note: str = ""


SMALL, LARGE = Item(name="s"), Item(name="l" * 100)


def test_measures_what_travels_and_not_what_nobody_set() -> None:
    assert encoded_size(SMALL) == len('{"name":"s"}')
    assert encoded_size([SMALL, SMALL]) == len('[{"name":"s"},{"name":"s"}]')
    assert encoded_size({"a": [None, "é", "\x01"]}) == len('{"a":[null,"ee","\\u0001"]}')


def test_takes_the_first_or_the_last_items_that_fit_in_their_order() -> None:
    items = [Item(name=str(i)) for i in range(9)]

    assert Room(3 * 13).first(items) == tuple(items[:3])
    assert Room(3 * 13 + 12).last(items) == tuple(items[-3:])


def test_stops_at_the_first_item_that_does_not_fit() -> None:
    room = Room(100)

    assert room.first([SMALL, LARGE, SMALL]) == (SMALL,)
    assert room.left == 100 - 13


def test_what_is_refused_takes_nothing() -> None:
    room = Room(10)

    assert not room.holds(LARGE)
    assert room.take(10)
    assert not room.take(1)
    assert room.left == 0


def test_nothing_fits_where_too_much_is_sent_already() -> None:
    assert Room(-1).first([SMALL]) == ()
    assert not Room(-1).take(0)


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 1), ([], 1), ([[1]], 3), ({"a": {"b": []}}, 3), ((1, {2}), 3), ([[[[[]]]]], 4)]
)
def test_depth_is_counted_to_one_beyond_the_limit(value: object, depth: int) -> None:
    assert depth_of(value, 3) == depth
