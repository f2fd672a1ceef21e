"""Sizes on the wire, measured before anything is handed to Temporal: what is too large would hang or end the run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from pydantic import TypeAdapter

MAX_DEPTH = 100
"""Deepest nesting of an argument or a result; a workflow decodes 200 levels, with everything that is around them."""

T = TypeVar("T")

_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


def encoded_size(value: object) -> int:
    """Return the bytes of a value as it travels: as JSON without the fields that nobody set."""
    return len(_ANYTHING.dump_json(value, exclude_unset=True))


def depth_of(value: object, limit: int) -> int:
    """Return how deep a value of lists and dicts is nested, at the most limit + 1."""
    deepest, waiting = 0, [(value, 1)]
    while waiting and deepest <= limit:
        current, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(current, dict):
            waiting.extend((inner, depth + 1) for inner in current.values())
        elif isinstance(current, list | tuple | set | frozenset):
            waiting.extend((inner, depth + 1) for inner in current)
    return deepest


@dataclass
class Room:
    """What one message can still hold, in encoded bytes."""

    left: int
    """Below zero when what must be sent is too large by itself: then nothing fits."""

    def take(self, size: int) -> bool:
        """Take so many bytes; refuse, changing nothing, what does not fit."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def holds(self, value: object) -> bool:
        """Take the bytes of a value and of a comma after it; refuse, changing nothing, what does not fit."""
        return self.take(encoded_size(value) + 1)

    def first(self, items: Iterable[T]) -> tuple[T, ...]:
        """Take the first items, as many as fit one after the other."""
        return tuple(takewhile(self.holds, items))

    def last(self, items: Sequence[T]) -> tuple[T, ...]:
        """Take the last items, as many as fit one after the other, in their order."""
        return self.first(reversed(items))[::-1]
