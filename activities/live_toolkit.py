"""A toolkit that changes while a worker serves it: whoever asks for it gets it as it is now."""

import logging
from collections.abc import Callable, Iterator, Mapping

from activities.toolkit import Tool, Toolkit, ToolkitError

log = logging.getLogger(__name__)


class LiveToolkit(Mapping[str, Toolkit]):
    """One toolkit by its name, put together again when what it is made of has changed."""

    def __init__(self, name: str, build: Callable[[], Toolkit], revision: Callable[[], int]) -> None:
        """Build the toolkit; later again when the revision is another one.

        Raises:
            ToolkitError: when it cannot be built now. Later it stays as it was, and the log says why.
        """
        self._name = name
        self._build = build
        self._revision = revision
        self._seen = revision()
        self._kit = build()
        self._tools = self._kit.by_name()

    @property
    def current(self) -> Toolkit:
        """Return the toolkit as it is now."""
        if (revision := self._revision()) != self._seen:
            self._seen = revision
            try:
                self._kit = self._build()
            except ToolkitError as error:
                log.warning("the toolkit %r stays as it was: %s", self._name, error)
            else:
                self._tools = self._kit.by_name()
        return self._kit

    def __getitem__(self, name: str) -> Toolkit:
        if name != self._name:
            raise KeyError(name)
        return self.current

    def __iter__(self) -> Iterator[str]:
        yield self._name

    def __len__(self) -> int:
        return 1

    def by_name(self) -> Mapping[str, Tool]:
        """Return the tools by their names, as they are whenever one is looked up."""
        return _LiveTools(self._current_tools)

    def _current_tools(self) -> Mapping[str, Tool]:
        _ = self.current
        return self._tools


class _LiveTools(Mapping[str, Tool]):
    def __init__(self, current: Callable[[], Mapping[str, Tool]]) -> None:
        self._current = current

    def __getitem__(self, name: str) -> Tool:
        return self._current()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())
