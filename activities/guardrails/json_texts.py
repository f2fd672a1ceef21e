"""All texts and long numbers of a JSON value, each with the key that tells what it is; keys are texts too."""

from collections.abc import Callable, Iterator

from pydantic import JsonValue
from typing_extensions import TypeIs

from activities.guardrails.private import Value

_LEAST, _MOST = 10**8, 10**19 - 1
"""Whole numbers that may be somebody's: of 9 to 19 digits, as phones and cards have them."""
_SAYS_NOTHING = frozenset({"value", "val", "text", "content", "data", "raw", "current", "string"})
"""Keys that tell of a value only that it is one."""
_SAYS = ("name", "key", "field", "label", "type")
"""Keys beside them under which the name of the value stands."""
_LONGEST_NAME = 64


def leaves_of(value: JsonValue) -> Iterator[tuple[Value, str]]:
    """Return each text and long number with its label: the nearest telling key, empty at the top and for keys."""
    waiting: list[tuple[JsonValue, str]] = [(value, "")]
    while waiting:
        current, name = waiting.pop()
        if _is_leaf(current):
            yield current, name
        elif isinstance(current, dict):
            yield from ((key, "") for key in current)
            waiting.extend((each, _label(key, current, name)) for key, each in current.items())
        elif isinstance(current, list):
            waiting.extend((each, name) for each in current)


def texts_of(value: JsonValue) -> Iterator[tuple[str, str]]:
    """Return each text with its label, as of `leaves_of`."""
    return ((leaf, label) for leaf, label in leaves_of(value) if isinstance(leaf, str))


def with_leaves(value: JsonValue, change: Callable[[Value, str], Value], label: str = "") -> JsonValue:
    """Return a value with others in place of its texts and long numbers; `change` takes one and its label."""
    if _is_leaf(value):
        return change(value, label)
    if isinstance(value, dict):
        changed = ((key, with_leaves(each, change, _label(key, value, label))) for key, each in value.items())
        return {str(change(key, "")): each for key, each in changed}
    if isinstance(value, list):
        return [with_leaves(each, change, label) for each in value]
    return value


def _is_leaf(value: JsonValue) -> TypeIs[Value]:
    return isinstance(value, str) or (type(value) is int and _LEAST <= value <= _MOST)


def _label(key: str, holder: dict[str, JsonValue], above: str) -> str:
    """Return the label of what stands under a key: one that says nothing has it from beside or above."""
    if key.lower() not in _SAYS_NOTHING:
        return key
    names = (holder.get(name) for name in _SAYS)
    return next((name for name in names if isinstance(name, str) and len(name) <= _LONGEST_NAME), above) or key
