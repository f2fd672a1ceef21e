"""Runs of digits that are long enough to be a number of somebody: dates and times are none."""

import re
from collections.abc import Iterator

_MARGIN = 24
"""Letters of an IBAN or of an id may stand on both sides of its digits."""
_GAP = r"(?:[ ().\-/_]{0,3}|[ \t-]?\r?\n[ \t]?(?!(?:19|20)[0-9]{2}-))"
"""What may stand between the digits of a number, the end of a line included."""
_MOST_DIGITS = 256
_MOST = 4_096
"""Characters from which a part ends with its run: a search through a part serves nobody else meanwhile."""
_DATE = (
    r"(?<![0-9][0-9])(?:(?<=1)9|(?<=2)0)[0-9]{2}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![0-9-])"
)
# Each begins with a digit, which is what makes the search fast in prose.
_RUN = re.compile(
    rf"[0-9](?:(?P<date>{_DATE})|(?:{_GAP}[0-9]){{5,{_MOST_DIGITS}}}|[0-9]{{3}}[A-Za-z]"
    r"|[A-Za-z][0-9]{2}[A-Za-z][0-9]{2})"
)


def has_number_run(text: str) -> bool:
    """Return whether there is any."""
    match = _RUN.search(text)
    while match is not None and match.lastgroup is not None:
        match = _RUN.search(text, match.end())
    return match is not None


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Return the parts of a text, start and end, in which such runs are with what stands beside them.

    A long part ends where another run begins; the next part begins with what stands before that one.
    """
    begun: tuple[int, int] | None = None
    for match in _RUN.finditer(text):
        if match.lastgroup is not None:
            continue
        start, end = max(0, match.start() - _MARGIN), min(len(text), match.end() + _MARGIN)
        if begun is not None and (start > begun[1] or match.start() - begun[0] > _MOST):
            yield begun[0], min(begun[1], match.start())
            begun = None
        begun = (begun[0] if begun else start, end)
    if begun is not None:
        yield begun
