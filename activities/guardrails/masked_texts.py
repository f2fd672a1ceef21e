"""Which private values the texts of a run hold, and the texts with placeholders, or kinds, in their places."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType

from activities.guardrails.pii import Place, find_private, replaced
from activities.guardrails.private import Private, PrivateKind, Value
from activities.guardrails.private_numbers import find_private_number

Found = Mapping[tuple[Value, str], tuple[Private, ...]]
"""Private values by text, or number, and label; those without any are not in it."""
MAX_SOUGHT = 256
"""Values that are looked for in every text of a run."""
LEAST_SOUGHT = 6
"""Characters of a value that is looked for: a shorter one would be found in anything."""
Names = Mapping[tuple[PrivateKind, Value], str]
"""Placeholders by kind and value."""


def find_in(leaves: Iterable[tuple[Value, str]], sought: Mapping[str, PrivateKind]) -> Found:
    """Return the private values of texts and numbers with their labels.

    A value that is sought, or that one of the texts tells, is found in all of them: what tells it may stand once.
    """
    given = dict.fromkeys(leaves)
    found = _found(given, sought)
    told = {each.value: each.kind for values in found.values() for each in values if len(each.value) >= LEAST_SOUGHT}
    told = dict(islice(told.items(), MAX_SOUGHT))
    again = [each for each in given if holds_any(str(each[0]), told)]
    return {**found, **_found(again, {**sought, **told})}


def _found(leaves: Iterable[tuple[Value, str]], sought: Mapping[str, PrivateKind]) -> Found:
    found = {(leaf, label): _private_of(leaf, label, sought) for leaf, label in leaves}
    return {each: values for each, values in found.items() if values}


def _private_of(leaf: Value, label: str, sought: Mapping[str, PrivateKind]) -> tuple[Private, ...]:
    if isinstance(leaf, str):
        return find_private(leaf, label, tuple(_places(leaf, sought)))
    return find_private_number(leaf, label, sought)


def holds_any(text: str, sought: Iterable[str]) -> bool:
    """Return whether a text may hold one of these values; False is certain, and quick."""
    return any(map(text.__contains__, sought))


def masked(leaf: Value, label: str, found: Found, names: Names) -> Value:
    """Return a text with placeholders in place of what was found in it; in place of a private number stands one."""
    values = found.get((leaf, label), ())
    if isinstance(leaf, str):
        return replaced(leaf, {each: names[each.kind, each.value] for each in values})
    return next((names[each.kind, leaf] for each in values), leaf)


def wanted(found: Found) -> list[tuple[PrivateKind, Value]]:
    """Return what needs placeholders, each once."""
    pairs = ((leaf, one) for (leaf, _), ones in found.items() for one in ones)
    return list(dict.fromkeys((one.kind, leaf if isinstance(leaf, int) else one.value) for leaf, one in pairs))


def without_private(text: str, sought: Mapping[str, PrivateKind] = MappingProxyType({})) -> str:
    """Return a text with the kind of each private value in its place, such as `<EMAIL>`."""
    values = find_private(text, known=tuple(_places(text, sought)))
    return replaced(text, {each: f"<{each.kind}>" for each in values})


def _places(text: str, sought: Mapping[str, PrivateKind]) -> Iterator[Place]:
    for value, kind in sought.items():
        end = 0
        while (start := text.find(value, end)) >= 0:
            end = start + len(value)
            if text[start - 1 : start].isalnum() or text[end : end + 1].isalnum():
                end = start + 1
            else:
                yield kind, start, end
