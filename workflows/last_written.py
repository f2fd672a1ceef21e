"""Large values that this process has just written: whoever reads them here next is given them as they are.

The worker that has drawn up a plan mostly drives the run that it is for, too. To read a plan of a thousand nodes takes
seven milliseconds, in which the run does nothing else.
"""

from pydantic import BaseModel

_MOST = 4


class LastWritten:
    """The last few values, by what they were written as. They must be frozen: they are shared."""

    def __init__(self) -> None:
        """Know none."""
        self._known: tuple[tuple[bytes, BaseModel], ...] = ()

    def remember(self, value: BaseModel, data: bytes) -> None:
        """Remember what a value was written as; may be called from any thread."""
        self._known = ((data, value), *self._known[: _MOST - 1])

    def of(self, kind: type | None, data: bytes) -> BaseModel | None:
        """Return the value of this class that was written as these bytes, None when that was long ago or elsewhere."""
        return next((value for known, value in self._known if type(value) is kind and known == data), None)
