"""Names that a model takes for one another, and names that tell it nothing."""

import re
from collections.abc import Iterable, Iterator

VAGUE_PARAMETERS = frozenset(
    {
        "arg",
        "args",
        "arguments",
        "data",
        "info",
        "input",
        "inputs",
        "kwargs",
        "misc",
        "obj",
        "object",
        "param",
        "parameter",
        "parameters",
        "params",
        "payload",
        "stuff",
        "thing",
        "things",
        "value",
        "values",
    }
)
VAGUE_TOOLS = frozenset(
    {
        "action",
        "args",
        "call",
        "data",
        "do",
        "execute",
        "func",
        "function",
        "handle",
        "helper",
        "input",
        "main",
        "perform",
        "process",
        "run",
        "task",
        "test",
        "tool",
        "util",
        "utils",
    }
)

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
"""Ends of plurals, with those of their singulars; the first that fits counts."""
_NO_PLURAL = ("ss", "us", "is")


def near_collisions(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that is easily taken for an earlier one, with that one.

    Such are equal names, the same words in another order, and those that differ by a plural, case or separators only.
    """
    first: dict[tuple[str, ...], str] = {}
    for name in names:
        words = [_singular(word) for word in words_of(name)]
        keys = (tuple(sorted(words)), ("".join(words),))
        other = next((first[key] for key in keys if key in first), None)
        if other is not None:
            yield name, other
        for key in keys:
            first.setdefault(key, name)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case, whether underscores, other signs or capitals part them."""
    return [word.casefold() for word in _BORDER.split(name) if word]


def _singular(word: str) -> str:
    if word.endswith(_NO_PLURAL):
        return word
    for ending, single in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + single
    return word
