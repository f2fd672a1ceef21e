"""RFC 6901 JSON Pointers: reading one, and following it into a value."""

import re

from pydantic import JsonValue

from harness.errors import listed, quoted

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_BAD_ESCAPE = re.compile(r"~(?![01])")


class PointerError(LookupError):
    """A pointer is malformed or leads nowhere. The message says which part, and what exists there."""


def parse_pointer(path: str) -> tuple[str, ...]:
    """Return the unescaped parts of a pointer; the empty pointer has none.

    Raises:
        PointerError: when it does not start with "/" or has a "~" that is neither "~0" nor "~1".
    """
    if not path:
        return ()
    if not path.startswith("/"):
        raise PointerError(f"path {quoted(path)} must be empty or start with '/', as in '/items/0/name'")
    if _BAD_ESCAPE.search(path):
        raise PointerError(f"path {quoted(path)} has a '~' that must be written '~0' ('~1' stands for '/')")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))


def join_pointer(parts: tuple[str, ...]) -> str:
    """Return the pointer of these parts, escaped."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def array_index(part: str) -> int | None:
    """Return the array index that a part of a pointer stands for, or None when it is none."""
    return int(part) if _INDEX.fullmatch(part) else None


def resolve_pointer(value: JsonValue, path: str) -> JsonValue:
    """Return the part of a value that a pointer names; the empty pointer names the whole.

    Raises:
        PointerError: when it is malformed or that part does not exist.
    """
    parts = parse_pointer(path)
    for depth, part in enumerate(parts):
        value = _child(value, part, join_pointer(parts[:depth]))
    return value


def _child(value: JsonValue, part: str, path: str) -> JsonValue:
    where = f"at {quoted(path)}" if path else "at the top"
    if isinstance(value, dict):
        if part in value:
            return value[part]
        raise PointerError(f"no field {quoted(part)} {where}: its fields are {listed(value)}")
    if isinstance(value, list):
        index = array_index(part)
        if index is not None and index < len(value):
            return value[index]
        raise PointerError(f"no item {quoted(part)} {where}: it is an array of {len(value)} items, counted from 0")
    raise PointerError(f"no part {quoted(part)} {where}: the value there is neither an object nor an array")
