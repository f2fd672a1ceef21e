"""Near matches: the names that somebody who wrote a wrong one may have meant."""

import difflib
from collections.abc import Iterable
from functools import cached_property
from itertools import islice

from harness.errors import quoted

MAX_NAMES = 1000
"""Candidates that are looked at."""
MAX_WORD = 100
"""Characters of a name; longer ones have no near matches."""
MAX_SEARCHES = 20
"""Different wrong names that are searched for; after that there are no more hints."""


class NearMatches:
    """Hints from one set of names. A search costs milliseconds, so their number is limited."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names, which must not change: they are looked at when the first hint is wanted."""
        self._names = names
        self._hints: dict[str, str] = {}

    @cached_property
    def _by_folded(self) -> dict[str, str]:
        """Return the names; of those that differ only in case and outer space the first counts."""
        found: dict[str, str] = {}
        for name in islice(self._names, MAX_NAMES):
            if len(name) <= MAX_WORD:
                found.setdefault(name.strip().casefold(), name)
        return found

    def hint(self, wrong: str) -> str:
        """Return "; did you mean 'x'?", or nothing when no name is near."""
        if len(wrong) > MAX_WORD:
            return ""
        if wrong not in self._hints:
            if len(self._hints) >= MAX_SEARCHES:
                return ""
            self._hints[wrong] = self._search(wrong.strip().casefold())
        return self._hints[wrong]

    def _search(self, folded: str) -> str:
        near = [folded] if folded in self._by_folded else difflib.get_close_matches(folded, self._by_folded)
        names = " or ".join(quoted(self._by_folded[each]) for each in near)
        return f"; did you mean {names}?" if names else ""
