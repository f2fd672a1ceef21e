"""Private values in a text: e-mail addresses, phone numbers, cards, accounts, national ids, keys and tokens.

Phone numbers are judged by Google's libphonenumber (`phonenumbers`), cards, accounts and ids by `python-stdnum`. The
time is linear in the text.
"""

from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from activities.guardrails.account_numbers import find_cards, find_ibans
from activities.guardrails.email_addresses import find_emails
from activities.guardrails.national_ids import find_national_ids, rules_for
from activities.guardrails.number_runs import has_number_run, windows
from activities.guardrails.phone_numbers import find_phones, names_phones
from activities.guardrails.placeholders import PLACEHOLDER
from activities.guardrails.plain_view import plain_view
from activities.guardrails.private import Private, PrivateKind, may_hold_private, narrowed
from activities.guardrails.secrets_in_text import find_secrets, names_secret
from activities.guardrails.session_tokens import find_tokens, names_token

_ORDER = {kind: place for place, kind in enumerate(PrivateKind)}


REMEMBERED_CHARS = 32_768
"""Longest text whose private values are remembered: each step of an agent loop sends its conversation again."""

Place = tuple[PrivateKind, int, int]
"""Kind, start and end."""


def find_private(text: str, label: str = "", known: tuple[Place, ...] = ()) -> tuple[Private, ...]:
    """Return the private values of a text in their order; none overlap.

    Args:
        text: Any text. Placeholders in it are no private values.
        label: The key under which it stands in an object, which may tell what it is.
        known: Where values stand that are private whatever they look like.
    """
    narrow = narrowed(text)
    if not known and not may_hold_private(narrow) and not names_secret(label) and not names_token(label):
        return ()
    return _found_before(text, label, known) if len(text) <= REMEMBERED_CHARS else _found(text, label, known)


def _found(text: str, label: str, known: tuple[Place, ...]) -> tuple[Private, ...]:
    places = _places(text, label)
    rest = _not_within(known, places)
    found = [*rest, *sorted(places, key=lambda each: (_ORDER[each[0]], each[1], -each[2]))]
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    kept = [Private(kind, start, end, text[start:end]) for kind, start, end in found if _take(taken, start, end)]
    return tuple(sorted(kept, key=lambda each: each.start))


_found_before = lru_cache(maxsize=512)(_found)


def _take(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    """Take a place if it is free; return whether it was. Places are in their order, and none overlap."""
    index = bisect(taken, (start, end))
    is_free = (index == 0 or taken[index - 1][1] <= start) and (index == len(taken) or end <= taken[index][0])
    if is_free:
        taken.insert(index, (start, end))
    return is_free


def replaced(text: str, parts: dict[Private, str]) -> str:
    """Return a text with others in place of its private values."""
    pieces, done = [], 0
    for private, other in parts.items():
        pieces += [text[done : private.start], other]
        done = private.end
    return "".join([*pieces, text[done:]])


def _not_within(known: Sequence[Place], places: Sequence[Place]) -> list[Place]:
    """Return the known places that are not part of another one."""
    spans = sorted((start, end) for _, start, end in places)
    starts, ends = [start for start, _ in spans], list(accumulate((end for _, end in spans), max))
    before = [bisect(starts, start) for _, start, _ in known]
    return [place for place, count in zip(known, before, strict=True) if not count or ends[count - 1] < place[2]]


def _places(text: str, label: str) -> list[Place]:
    """Return where private values stand in a text as it is written, and as it reads."""
    narrow = narrowed(text)
    places, view = list(_all(narrow, label)), plain_view(narrow)
    if view is None:
        return places
    # What begins within an escape is half of something: the address in "\\nbob@example.com" has no n.
    places = [place for place in places if not view.is_within_escape(place[1])]
    read = _all(narrowed(view.text), label)
    return [*places, *((kind, *view.written(start, end)) for kind, start, end in read)]


def _all(text: str, label: str) -> Iterator[Place]:
    yield from ((PrivateKind.SECRET, *place) for place in find_secrets(text, label))
    yield from ((PrivateKind.SECRET, *place) for place in find_tokens(text, label))
    yield from ((PrivateKind.EMAIL, *place) for place in find_emails(text))
    if not has_number_run(text):
        return
    rules, has_word = rules_for(text, label), names_phones(text, label)
    for start, end in windows(text):
        yield from ((PrivateKind.IBAN, *place) for place in find_ibans(text, start, end))
        yield from ((PrivateKind.CARD, *place) for place in find_cards(text, start, end))
        yield from ((PrivateKind.NATIONAL_ID, *place) for place in find_national_ids(text, start, end, label, rules))
        yield from ((PrivateKind.PHONE, *place) for place in find_phones(text, start, end, label, has_word=has_word))
