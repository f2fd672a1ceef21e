"""Private values are found, and what only looks like one is not."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.guardrails.masked_texts import without_private
from activities.guardrails.pii import find_private
from activities.guardrails.private import PrivateKind, may_hold_private
from tests.activities.guardrails.private_texts import HARMLESS, PRIVATE_TEXTS

SIGNS = st.text(alphabet="0123456789+-() ./@abXZ<>_:=\n身\uff20", max_size=80)


def test_there_are_fifty_texts() -> None:
    assert len(PRIVATE_TEXTS) == 50


@pytest.mark.parametrize(("text", "values"), PRIVATE_TEXTS, ids=[text[:30] for text, _ in PRIVATE_TEXTS])
def test_private_values_are_found(text: str, values: tuple[tuple[PrivateKind, str], ...]) -> None:
    assert tuple((each.kind, each.value) for each in find_private(text)) == values


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_private_is_left_alone(text: str) -> None:
    assert find_private(text) == ()


@pytest.mark.parametrize("value", ["$ecret99", "xK9-vault", "stringy7!", "-dash8", "nullify9", "%7Bq!"])
def test_a_password_may_begin_like_a_place_for_one(value: str) -> None:
    assert [each.value for each in find_private(f"password: {value}")] == [value]


@pytest.mark.parametrize(
    ("label", "text", "kind"),
    [
        ("password", "correct horse 9", PrivateKind.SECRET),
        ("dbPassword", "tr0ub4dor", PrivateKind.SECRET),
        ("client_secret", "abcdefgh", PrivateKind.SECRET),
        ("phone_number", "5552671", PrivateKind.PHONE),
        ("ssn", "536221234", PrivateKind.NATIONAL_ID),
        ("passport", "C01234567", PrivateKind.NATIONAL_ID),
    ],
)
def test_the_key_above_a_text_may_tell_what_it_is(label: str, text: str, kind: PrivateKind) -> None:
    assert [(each.kind, each.value) for each in find_private(text, label)] == [(kind, text)]


@pytest.mark.parametrize(
    ("label", "text"),
    [("token", "the"), ("key", "id"), ("order_id", "415-555-2671"), ("password", "required"), ("name", "536221234")],
)
def test_a_key_that_tells_nothing_makes_nothing_private(label: str, text: str) -> None:
    assert find_private(text, label) == ()


def test_what_is_known_to_be_private_is_whatever_it_looks_like() -> None:
    known = ((PrivateKind.NATIONAL_ID, 3, 12),)

    assert [each.value for each in find_private("is 536221234 it", known=known)] == ["536221234"]


def test_a_known_value_inside_a_longer_one_takes_nothing_from_that() -> None:
    known = ((PrivateKind.EMAIL, 0, 13),)

    assert [each.value for each in find_private("bob@a.example.org", known=known)] == ["bob@a.example.org"]


@given(SIGNS)
def test_values_are_in_order_inside_the_text_and_never_overlap(text: str) -> None:
    found = find_private(text)

    assert all(text[each.start : each.end] == each.value for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert may_hold_private(text) or not found


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "1234567 ",
        "bob@example.com ",
        "a@",
        "-----BEGIN PRIVATE KEY-----",
        "+1 415 555 2671, ",
        "0 12 345 67 ",
        "a",
        "key secret token = ",
    ],
)
def test_time_is_linear_in_the_text(part: str) -> None:
    text = part * (200_000 // len(part))
    began = time.monotonic()
    find_private(f"{text}@")

    assert time.monotonic() - began < 5


def test_a_text_without_any_costs_microseconds() -> None:
    text = '{"name":"Catan","price":49.99,"date":"2026-11-30"}'
    began = time.perf_counter()
    for _ in range(10_000):
        may_hold_private(text)

    assert (time.perf_counter() - began) / 10_000 < 0.000_1


def test_logs_say_what_kind_of_value_there_was() -> None:
    assert without_private("mail bob@example.com, card 4111 1111 1111 1111") == "mail <EMAIL>, card <CARD>"
