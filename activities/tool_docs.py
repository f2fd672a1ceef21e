"""Docstrings of tools: what a planner is told of a function and of each of its parameters."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_SECTION = re.compile(
    r"(?:Args|Arguments|Parameters|Keyword Args|Returns?|Yields?|Raises|Attributes|See Also|Todo|Examples?):\s*"
)
_ARGUMENTS = re.compile(r"(?:Args|Arguments|Parameters|Keyword Args):\s*")
_ENTRY = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\(.*?\))?\s*:(?!:)\s*(?P<text>.*)")
_SPHINX = re.compile(r":(?P<kind>\w+)(?P<subject>[^:]*):\s*(?P<text>.*)")
_SPHINX_KINDS = frozenset(
    {"param", "parameter", "arg", "argument", "key", "keyword", "type", "return", "returns", "rtype", "raise", "raises"}
)
_SPHINX_ARGUMENTS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword"})


@dataclass(frozen=True)
class ToolDoc:
    """What a docstring says."""

    description: str
    """Everything before the first section; empty without a docstring."""
    parameters: dict[str, str]
    """What is said of each parameter by name, in one line each."""


def read_doc(function: Callable[..., Any]) -> ToolDoc:
    """Read the docstring of a function: an "Args:" section, or ":param name:" fields."""
    lines = inspect.cleandoc(function.__doc__ or "").split("\n")
    first = next((number for number, line in enumerate(lines) if _starts_section(line)), len(lines))
    parameters = dict(_google_entries(lines[first:])) | dict(_sphinx_entries(lines[first:]))
    return ToolDoc("\n".join(lines[:first]).strip(), parameters)


def _starts_section(line: str) -> bool:
    return _SECTION.fullmatch(line) is not None or _sphinx_field(line) is not None


def _sphinx_field(line: str) -> re.Match[str] | None:
    field = _SPHINX.fullmatch(line)
    return field if field and field["kind"] in _SPHINX_KINDS else None


def _google_entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        if _ARGUMENTS.fullmatch(line):
            yield from _entries(_indented(lines[number + 1 :]))


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the entries of a section; what is indented further belongs to the entry above it."""
    body = inspect.cleandoc("\n" + "\n".join(lines)).split("\n")
    for number, line in enumerate(body):
        if entry := _ENTRY.fullmatch(line):
            yield entry["name"], _one_line([entry["text"], *_indented(body[number + 1 :])])


def _sphinx_entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        field = _sphinx_field(line)
        if field and field["kind"] in _SPHINX_ARGUMENTS and (subject := field["subject"].split()):
            yield subject[-1].lstrip("*"), _one_line([field["text"], *_indented(lines[number + 1 :])])


def _indented(lines: list[str]) -> list[str]:
    """Return the lines up to the first one that begins at the margin."""
    end = next((number for number, line in enumerate(lines) if line and not line[0].isspace()), len(lines))
    return lines[:end]


def _one_line(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
