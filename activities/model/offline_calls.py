"""Offline calls: which tools the offline model calls next, and with what. Each is called at most once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from pydantic import JsonValue

from activities.model.offline_feeds import is_untyped, item_schema, similarity
from activities.model.offline_literals import Literals
from harness.binding import parameter_schema, read_literal
from harness.catalog import JsonSchema, ToolSpec
from harness.json_schema import mismatch
from harness.schema_fit import takes_only_text

MOST_AT_ONCE = 8
"""Calls of one step."""
SIMILAR = 0.1
"""Least similarity of names that counts as a sign that a result is meant for a parameter."""

_WRITING = frozenset(
    {
        *("send", "write", "delete", "remove", "create", "update", "post", "put", "pay", "cancel", "move", "edit"),
        *("add", "insert", "publish", "upload", "save", "drop", "kill", "grant", "buy", "transfer", "reset", "approve"),
        *("execute", "remember", "recall", "agent"),
    }
)
_READING = frozenset({"get", "fetch", "list", "read", "query", "find", "load", "search", "show", "lookup"})
_TOKEN_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_SAYS_IT_WRITES = re.compile(r"\beffect:?\s+(?:IDEMPOTENT_)?WRITE\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class OfflineCall:
    """A call that the offline model makes."""

    tool: str
    arguments: dict[str, JsonValue]


def next_calls(
    tools: Sequence[ToolSpec], goal: str, results: Mapping[str, JsonValue], called: frozenset[str]
) -> tuple[OfflineCall, ...]:
    """Return the calls whose arguments the goal and the results so far give; none when there is nothing left to call.

    A tool of which another one's result may become an argument waits for that one, as long as anything else can go on.

    Args:
        tools: What is offered.
        goal: What the user asks for.
        results: Results by tool.
        called: Tools that have been called, whatever came of it.
    """
    untried = [tool for tool in tools if tool.name not in called and _only_reads(tool)]
    filling = _Filling(Literals(goal), results)
    ranked = sorted(untried, key=lambda tool: -_relevance(tool, goal))
    for waits_for in (untried, []):
        if calls := [*islice(_ready(ranked, filling, waits_for), MOST_AT_ONCE)]:
            return tuple(calls)
    return ()


def _only_reads(tool: ToolSpec) -> bool:
    """Return whether a tool only reads, as far as its name and its description say: nobody checks an offline model."""
    tokens = _TOKEN_BORDER.sub(" ", tool.name).lower().split()
    verbs = tokens[:1] if _READING.intersection(tokens) else tokens
    return _WRITING.isdisjoint(verbs) and not _SAYS_IT_WRITES.search(tool.description)


def _relevance(tool: ToolSpec, goal: str) -> int:
    return len(_words(goal) & _words(f"{tool.name} {tool.description}"))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _ready(tools: Sequence[ToolSpec], filling: "_Filling", waits_for: Sequence[ToolSpec]) -> Iterator[OfflineCall]:
    for tool in tools:
        arguments = filling.arguments(tool, [other for other in waits_for if other.name != tool.name])
        if arguments is not None:
            yield OfflineCall(tool.name, arguments)


@dataclass(frozen=True)
class _Filling:
    """Fills parameters from a goal and from results."""

    literals: Literals
    results: Mapping[str, JsonValue]

    def arguments(self, tool: ToolSpec, waits_for: Sequence[ToolSpec]) -> dict[str, JsonValue] | None:
        """Return the arguments of a call; None when one is missing, or when another tool may yet give a better one."""
        arguments: dict[str, JsonValue] = {}
        for name in tool.parameter_schemas:
            is_required = name in tool.required_parameters
            value = self._named(tool, name)
            if value is None and is_required:
                value = self._value(tool, name, waits_for)
            if value is None and is_required:
                return None
            if value is not None:
                arguments[name] = value
        return arguments

    def _named(self, tool: ToolSpec, name: str) -> JsonValue:
        return _read(self.literals.named(tool, name), parameter_schema(tool, name))

    def _value(self, tool: ToolSpec, name: str, waits_for: Sequence[ToolSpec]) -> JsonValue:
        schema = parameter_schema(tool, name)
        items = item_schema(schema)
        if items is not None and is_untyped(items):
            return None if waits_for else [*self.results.values()] or None
        found = next(self._similar(name, schema, items), None)
        if found is not None or any(similarity(name, schema, other) >= SIMILAR for other in waits_for):
            return found
        literal = _read(self.literals.of(tool, name), schema)
        if literal is not None or takes_only_text(schema):
            return literal
        return next((value for value in self.results.values() if mismatch(value, schema) is None), None)

    def _similar(self, name: str, schema: JsonSchema, items: JsonSchema | None) -> Iterator[JsonValue]:
        """Yield fitting results of tools whose names speak for a parameter, and fields that have its name."""
        for source, value in self.results.items():
            field = value.get(name) if isinstance(value, dict) else None
            if field is not None and mismatch(field, schema) is None:
                yield field
            elif similarity(name, schema, _named_only(source)) >= SIMILAR:
                yield from _fitting(value, schema, items)


def _fitting(value: JsonValue, schema: JsonSchema, items: JsonSchema | None) -> Iterator[JsonValue]:
    if value is not None and mismatch(value, schema) is None:
        yield value
    elif items is not None and mismatch(value, items) is None:
        yield [value]


def _named_only(name: str) -> ToolSpec:
    return ToolSpec(name=name, description="", parameters={}, result={})


def _read(literal: str | None, schema: JsonSchema) -> JsonValue:
    return None if literal is None else read_literal(literal, schema)
