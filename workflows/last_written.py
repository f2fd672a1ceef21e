"""Large values that this process has just written: they are given as they are to who reads them here.

The worker that has drawn up a plan mostly drives the run that it is for, too. To read a plan of a thousand nodes takes
seven milliseconds, in which the run does nothing else.
"""

from pydantic import BaseModel

_MOST = 4


class LastWritten:
    """The last few values, by what they were written as. They must be frozen: they are shared.

    Each is given once and then forgotten, or when others have been written: whoever reads it again, in a replay, reads.
    """

    def __init__(self) -> None:
        """Know none."""
        self._known: tuple[tuple[bytes, BaseModel], ...] = ()

    def remember(self, value: BaseModel, data: bytes) -> None:
        """Remember what a value was written as; may be called from any thread."""
        self._known = ((data, value), *self._known[: _MOST - 1])

    def take(self, kind: type | None, data: bytes) -> BaseModel | None:
        """Return the value of this class that was written as these bytes, None when it is not known any more."""
        for entry in self._known:
            known, value = entry
            if type(value) is kind and known == data:
                self._known = tuple(each for each in self._known if each is not entry)
                return value
        return None
