"""Private values are found whatever signs they are written with, and placed where they stand in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.guardrails.pii import find_private
from activities.guardrails.plain_view import PlainView, plain_view
from activities.guardrails.private import PrivateKind, may_hold_private
from tests.activities.guardrails.disguised_texts import DISGUISED, PLAIN


@pytest.mark.parametrize(("text", "values"), DISGUISED, ids=[ascii(text[:30]) for text, _ in DISGUISED])
def test_a_disguised_value_is_found(text: str, values: tuple[tuple[PrivateKind, str], ...]) -> None:
    assert may_hold_private(text)
    assert tuple((each.kind, each.value) for each in find_private(text)) == values


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_a_disguise_is_left_alone(text: str) -> None:
    assert find_private(text) == ()


@pytest.mark.parametrize(
    ("label", "text", "value"),
    [
        ("password", "correct horse battery staple", "correct horse battery staple"),
        ("token", "abcd1234efgh5678", "abcd1234efgh5678"),
        ("Authorization", "Bearer abcd1234efgh", "abcd1234efgh"),
        ("session", "9f8e7d6c5b4a3928", "9f8e7d6c5b4a3928"),
        ("Cookie", "sid=9f8e7d6c5b4a; a=b", "9f8e7d6c5b4a"),
    ],
)
def test_a_key_tells_of_tokens_and_passphrases(label: str, text: str, value: str) -> None:
    assert [(each.kind, each.value) for each in find_private(text, label)] == [(PrivateKind.SECRET, value)]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("password", "the password of your account"),
        ("password", "must have eight characters"),
        ("token", "hello"),
        ("token", "##ing"),
        ("next_page_token", "abcd1234efgh5678"),
        ("session", "2026-autumn-term"),
        ("session", "Monday morning, room 12"),
        ("cookie", "chocolate chip"),
    ],
)
def test_a_key_of_tokens_makes_no_words_private(label: str, text: str) -> None:
    assert find_private(text, label) == ()


@given(st.text(alphabet='ab1 %240\\nu"&#;\u200b@', max_size=40))
def test_a_view_knows_where_each_sign_is_written(text: str) -> None:
    view = PlainView(text)

    places = [view.written(at, at + 1) for at in range(len(view.text))]

    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(end - start > 1 or text[start] == sign for (start, end), sign in zip(places, view.text, strict=True))
    assert plain_view(text) is not None or view.text == text
