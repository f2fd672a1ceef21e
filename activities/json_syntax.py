"""Repair of JSON syntax: trailing commas, single quotes, comments, unquoted keys. Nothing is completed or made up.

The json-repair library also guesses: it closes what is cut, fills in what is missing, and touches the content of some
strings (0.64 makes "```json" inside a string disappear). So it never sees a string, only a numbered mark in its place,
and what it returns must hold everything of the text: each mark in its order, each key, word, object and list.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

MAX_DEPTH = 100
MAX_CHARS = 1_000_000

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<open>[{\[])|(?P<close>[}\]])|(?P<colon>:)
    |(?P<other>[^"'/\#{}\[\]:]+)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {"{": "}", "[": "]"}
_WORD = re.compile(r"[^\s,]+")
_BARE_KEY = re.compile(r"[\w$-]+")
_ESCAPE_OR_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_MARK = "whippletree string "


class SyntaxRepairError(ValueError):
    """A text cannot be repaired by its syntax alone."""


@dataclass(frozen=True)
class Repaired:
    """The value of a text whose syntax was repaired."""

    value: JsonValue
    end: int
    """Where the value ends in the text."""


@dataclass
class _Outline:
    """A JSON text with marks in place of its strings and without its comments."""

    text: str = ""
    strings: list[str] = field(default_factory=list)
    colons: int = 0
    containers: int = 0
    words: int = 0
    """Keys, numbers and the like that are in no quotes."""
    end: int = 0


def repair(text: str, start: int) -> Repaired:
    """Repair the object or list that begins at `start`.

    Raises:
        SyntaxRepairError: when it is cut, or wrong in more than its syntax.
    """
    outline = _outline(text, start)
    try:
        # Loaded by the few answers that need it.
        from json_repair import repair_json  # noqa: PLC0415

        value = repair_json(outline.text, return_objects=True, skip_json_loads=True, strict=True)
    except (ValueError, RecursionError) as error:
        raise SyntaxRepairError(str(error)) from None
    restoring = _Restoring(outline)
    restored = restoring.restore(value)
    restoring.check()
    return Repaired(restored, outline.end)


def _outline(text: str, start: int) -> _Outline:
    outline, position = _Outline(), start
    pieces: list[str] = []
    expected: list[str] = []
    while not pieces or expected:
        token = _TOKEN.match(text, position, start + MAX_CHARS)
        if token is None:
            raise SyntaxRepairError(_why_stuck(text[position : position + 2]))
        position, piece = token.end(), token.group()
        match token.lastgroup:
            case "open":
                expected.append(_CLOSES[piece])
                outline.containers += 1
            case "close" if expected.pop() != piece:
                raise SyntaxRepairError(f"a bracket is closed by {piece!r} that is not its own")
            case "colon":
                outline.colons += 1
            case "string":
                outline.strings.append(_decoded(piece))
                piece = f'"{_MARK}{len(outline.strings) - 1}"'
            case "comment":
                piece = " "
            case "other":
                outline.words += len(_WORD.findall(piece))
        if len(expected) > MAX_DEPTH:
            raise SyntaxRepairError("nested too deeply")
        pieces.append(piece)
    outline.text, outline.end = "".join(pieces), position
    return outline


def _why_stuck(rest: str) -> str:
    is_cut = not rest or rest[0] in "\"'" or rest == "/*"
    return "it is cut: not every bracket and string in it is closed" if is_cut else f"{rest[0]!r} has no place in it"


def _decoded(literal: str) -> str:
    if literal[0] == "'":
        literal = f'"{_ESCAPE_OR_QUOTE.sub(_as_in_double_quotes, literal[1:-1])}"'
    try:
        decoded: str = json.loads(literal, strict=False)
    except ValueError as error:
        raise SyntaxRepairError(f"a string in it is not valid: {error}") from None
    return decoded


def _as_in_double_quotes(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found.group(), found.group())


@dataclass
class _Restoring:
    """Puts the strings back and counts what came back of the text."""

    outline: _Outline
    marks: list[int] = field(default_factory=list)
    keys: int = 0
    containers: int = 0
    words: int = 0

    def restore(self, value: object) -> JsonValue:
        """Return the value with its strings in place of their marks."""
        match value:
            case dict():
                self.containers += 1
                return dict(self._members(value))
            case list():
                self.containers += 1
                return [self.restore(item) for item in value]
            case str():
                return self._string(value)
            case int() | float() | None:
                self.words += 1
                return value
            case _:
                raise SyntaxRepairError(f"{type(value).__name__} is no JSON")

    def _members(self, members: dict[str, object]) -> Iterator[tuple[str, JsonValue]]:
        seen: set[str] = set()
        for key, value in members.items():
            name = self._key(key)
            if name in seen:
                raise SyntaxRepairError(f"the key {name!r} is there twice")
            seen.add(name)
            self.keys += 1
            yield name, self.restore(value)

    def _key(self, text: str) -> str:
        if not _BARE_KEY.fullmatch(text):
            return self._string(text)
        self.words += 1
        return text

    def _string(self, text: str) -> str:
        if not text.startswith(_MARK):
            raise SyntaxRepairError(f"{text!r} is in no quotes")
        number = text.removeprefix(_MARK)
        if not number.isdecimal() or int(number) != len(self.marks):
            raise SyntaxRepairError("its strings are not where JSON has strings")
        self.marks.append(int(number))
        return self.outline.strings[int(number)]

    def check(self) -> None:
        """Refuse a value in which something of the text is missing or added."""
        outline = self.outline
        back = (len(self.marks), self.keys, self.containers, self.words)
        if back != (len(outline.strings), outline.colons, outline.containers, outline.words):
            raise SyntaxRepairError("it is wrong in more than its syntax")
