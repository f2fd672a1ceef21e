"""A text as it reads: without URL and JSON escapes, entities and signs that nobody sees, and where its parts stand."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote

_UNSEEN = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}]")
_WRITTEN = (
    r"%(?:25){0,2}[2-7][0-9A-Fa-f]|(?:%(?:25){0,2}[89A-Fa-f][0-9A-Fa-f])+"
    r"|\\{1,8}(?:[\"'/nrt]|u[0-9A-Fa-f]{4})"
    r"|&(?:#[0-9]{2,5}|#[xX][0-9A-Fa-f]{2,4}|nbsp|commat|period|plus|lowbar|hyphen|dash|quot|amp);"
)
_ESCAPE = re.compile(_WRITTEN)
_ESCAPE_OR_UNSEEN = re.compile(rf"{_WRITTEN}|[{_UNSEEN}]+")
_SIGNS = ("%", "\\", "&")
_AGAIN = re.compile(r"%(?:25)+(?=[0-9A-Fa-f]{2})")
"""A percent sign that was encoded itself."""
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class _Piece:
    """A part of the text that reads otherwise than it is written."""

    read_start: int
    read_end: int
    start: int
    end: int


class PlainView:
    """A text as it reads, and where in the text as it is written a part of it stands."""

    def __init__(self, text: str) -> None:
        """Read a text."""
        parts: list[str] = []
        self._pieces: list[_Piece] = []
        done = length = 0
        for match in _escapes(text):
            read = _ANY_UNSEEN.sub("", _read(match[0]))
            length += match.start() - done
            self._pieces.append(_Piece(length, length + len(read), *match.span()))
            parts += [text[done : match.start()], read]
            length += len(read)
            done = match.end()
        self.text = "".join([*parts, text[done:]])
        self._read_starts = [piece.read_start for piece in self._pieces]
        self._starts = [piece.start for piece in self._pieces]

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part that is not empty stands in the text as it is written."""
        return self._place(start)[0], self._place(end - 1)[1]

    def is_within_escape(self, place: int) -> bool:
        """Return whether a place of the written text is behind the first sign of an escape, and in it."""
        index = bisect_right(self._starts, place) - 1
        return index >= 0 and self._pieces[index].start < place < self._pieces[index].end

    def _place(self, read: int) -> tuple[int, int]:
        """Return start and end of what is written for one sign."""
        index = bisect_right(self._read_starts, read) - 1
        if index < 0:
            return read, read + 1
        piece = self._pieces[index]
        if read < piece.read_end:
            return piece.start, piece.end
        start = piece.end + read - piece.read_end
        return start, start + 1


def plain_view(text: str) -> PlainView | None:
    """Return a text as it reads; None when that is as it is written."""
    return PlainView(text) if next(_escapes(text), None) else None


def _escapes(text: str) -> Iterator[re.Match[str]]:
    if not text.isascii():
        return _ESCAPE_OR_UNSEEN.finditer(text)
    return _ESCAPE.finditer(text) if any(map(text.__contains__, _SIGNS)) else iter(())


def _read(escape: str) -> str:
    """Return what an escape stands for."""
    match escape[0]:
        case "%":
            return unquote(_AGAIN.sub("%", escape))
        case "&":
            return unescape(escape)
        case "\\":
            sign = escape.lstrip("\\")
            return chr(int(sign[1:], 16)) if len(sign) > 1 else _SHORT.get(sign, sign)
        case _:
            return ""
