"""The search for numbers that a pattern finds and a check confirms: the pattern may take in the end of another one."""

import re
from collections.abc import Callable, Iterable, Iterator

_BETWEEN = re.compile(r"[ \n-]")
Place = tuple[int, int]
"""Start and end."""


def confirmed(
    pattern: re.Pattern[str], text: str, start: int, end: int, choose: Callable[[int, int], Iterable[Place]]
) -> Iterator[Place]:
    """Return the places of numbers in a part of a text.

    Args:
        pattern: What they look like.
        text: The whole text.
        start: Where the part begins.
        end: Where it ends.
        choose: Returns which places within a match are such numbers, the best first. When there is none, the search
            goes on at the next group of the match.
    """
    while match := pattern.search(text, start, end):
        place = next(iter(choose(*match.span())), None)
        if place is not None:
            yield place
            start = place[1]
        else:
            gap = _BETWEEN.search(text, match.start() + 1, match.end())
            start = gap.end() if gap else match.end()


def shorter(text: str, start: int, end: int, signs: str) -> Iterator[Place]:
    """Return a place, and what is left of it without its last groups, which begin behind one of these signs."""
    yield start, end
    while (end := max(text.rfind(sign, start, end) for sign in signs)) > start:
        end = start + len(text[start:end].rstrip(f"{signs}\t\r"))
        yield start, end
