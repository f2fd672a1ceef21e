"""The offline planner: a correct plan for any toolkit whose tools can feed each other by name and type."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from activities.model.offline_feeds import fits, is_untyped, item_schema, similarity, surely_fits
from activities.model.offline_literals import Literals
from harness.binding import parameter_schema
from harness.catalog import Effect, JsonSchema, ToolRole, ToolSpec
from harness.errors import ErrorClass, classify, parse_code
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, Plan, PlanNode
from harness.schema_fit import takes_only_text

DEFAULT_MAX_NODES = 500
SIMILAR = 0.1
"""Least similarity of names or types that counts as a sign that a result is meant for a parameter."""
MAX_LITERAL_CHARS = 1900
"""A longer goal is shortened in the plan, which would otherwise not fit in one answer."""


def write_plan(texts: Mapping[str, str]) -> str:
    """Write a plan as JSON from the fenced texts of a prompt: goal, catalog, limits, failures.

    When the tools allow no correct plan the best attempt is written, and the validator says what it lacks.
    """
    tools = _read_tools(texts.get("catalog", ""))
    failed = _failed_tools(texts.get("failures", ""))
    literals = Literals(_shortened(texts.get("goal", "")))
    max_nodes = _max_nodes(texts.get("limits", ""))
    healthy = [tool for tool in tools if tool.name not in failed]
    drafts = [
        draft
        for usable in (healthy, tools)
        for final in usable
        if final.role is ToolRole.FINAL_SYNTHESIS
        for draft in _drafts(final, usable, literals, max_nodes)
    ]
    best = min(drafts, key=lambda draft: (draft.missing, len(draft.nodes) > max_nodes), default=None)
    return Plan(nodes=tuple(best.nodes) if best else ()).model_dump_json()


def _drafts(final: ToolSpec, tools: list[ToolSpec], literals: Literals, max_nodes: int) -> list["_Draft"]:
    """Return a full draft and, when that is too large, ever leaner ones until one is small enough."""
    drafts = [_Draft(tools, literals).with_report(final)]
    most_sources = min(len(tools), max_nodes)
    while len(drafts[-1].nodes) > max_nodes and most_sources > 0:
        drafts.append(_Draft(tools, literals, most_sources=most_sources, is_lean=True).with_report(final))
        most_sources -= 1
    return drafts


@dataclass
class _Draft:
    """A plan in the making. Nodes are added sources first; each tool serves at most once."""

    tools: list[ToolSpec]
    literals: Literals
    most_sources: int | None = None
    """Most sources of a list of results; None for all."""
    is_lean: bool = False
    """True to leave out what is not required."""
    nodes: list[PlanNode] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """Node id by tool name."""
    missing: int = 0
    """Required parameters of the report that nothing can fill."""
    _open: list[str] = field(default_factory=list)
    _dead: set[str] = field(default_factory=set)

    def with_report(self, final: ToolSpec) -> "_Draft":
        """Add the report and everything that it needs."""
        self._open.append(final.name)
        bindings = self._bind(final)
        self.missing = len(set(final.required_parameters) - {binding.name for binding in bindings})
        self._add(final, bindings, node_id="report")
        return self

    def _feed(self, tool: ToolSpec) -> str | None:
        """Return the id of a tool's node, adding it with all it needs; None when it cannot be fed."""
        if tool.name in self.ids:
            return self.ids[tool.name]
        if tool.name in self._dead or tool.name in self._open:
            return None
        before = len(self.nodes), dict(self.ids)
        self._open.append(tool.name)
        bindings = self._bind(tool)
        self._open.pop()
        if set(tool.required_parameters) <= {binding.name for binding in bindings}:
            return self._add(tool, bindings, node_id=_short_name(tool.name))
        del self.nodes[before[0] :]
        self.ids = before[1]
        self._dead.add(tool.name)
        return None

    def _add(self, tool: ToolSpec, bindings: list[ArgumentBinding], *, node_id: str) -> str:
        taken = {node.id for node in self.nodes}
        unique = node_id if node_id not in taken else f"{node_id}_{len(self.nodes)}"
        deps = dict.fromkeys(source for binding in bindings for source in binding.value.source_node_ids)
        self.nodes.append(PlanNode(id=unique, tool=tool.name, arguments=tuple(bindings), deps=tuple(deps)))
        self.ids[tool.name] = unique
        return unique

    def _bind(self, tool: ToolSpec) -> list[ArgumentBinding]:
        """Bind what can be bound; lists of anything come last and take what the others left."""
        names = [n for n in tool.parameter_schemas if n in tool.required_parameters or not self.is_lean]
        values: dict[str, ArgumentValue] = {}
        taken: set[str] = set()
        for name in sorted(names, key=lambda n: self._rank(tool, n)):
            value = self._value(tool, name, taken)
            if value:
                values[name] = value
                taken.update(value.source_node_ids)
        return [ArgumentBinding(name=name, value=values[name]) for name in names if name in values]

    def _rank(self, tool: ToolSpec, name: str) -> tuple[bool, float]:
        schema = parameter_schema(tool, name)
        items = item_schema(schema)
        best = max((similarity(name, schema, source) for source in self.tools), default=0.0)
        return items is not None and is_untyped(items), -best

    def _value(self, tool: ToolSpec, name: str, taken: set[str]) -> ArgumentValue | None:
        schema = parameter_schema(tool, name)
        is_required = name in tool.required_parameters
        items = item_schema(schema)
        if items is not None and is_untyped(items):
            return self._from_many(name, items, taken, least=0)
        named = self.literals.named(tool, name)
        if named is not None:
            return _value(BindingType.LITERAL, literal=named)
        similar = self._from_one(name, schema, taken, least=SIMILAR)
        if similar is None and items is not None:
            similar = self._from_many(name, items, taken, least=SIMILAR)
        if similar or not is_required:
            return similar
        if not takes_only_text(schema) and (fitting := self._fitting(name, schema, taken)):
            return fitting
        literal = self.literals.of(tool, name)
        if literal is not None:
            return _value(BindingType.LITERAL, literal=literal)
        return self._fitting(name, schema, taken)

    def _fitting(self, name: str, schema: JsonSchema, taken: set[str]) -> ArgumentValue | None:
        """Take a result that fits by its type alone, without a sign that it is meant."""
        items = item_schema(schema)
        fitting = self._from_one(name, schema, taken, least=0)
        return fitting or (None if items is None else self._from_many(name, items, taken, least=0))

    def _from_one(self, name: str, schema: JsonSchema, taken: set[str], *, least: float) -> ArgumentValue | None:
        """Take the result of the most similar tool that fits; one that no other parameter took comes first."""
        scored = [(similarity(name, schema, tool), tool) for tool in self._sources(schema)]
        ranked = sorted(scored, key=lambda pair: (self.ids.get(pair[1].name) in taken, -pair[0]))
        for score, tool in ranked:
            is_meant = score >= least and (score >= SIMILAR or surely_fits(tool, schema))
            source = self._feed(tool) if is_meant else None
            if source:
                return _value(BindingType.NODE_RESULT, sources=(source,))
        return None

    def _from_many(self, name: str, items: JsonSchema, taken: set[str], *, least: float) -> ArgumentValue | None:
        """Take the results of all tools that fit as items, the most similar ones first when not all are wanted."""
        scored = [(similarity(name, items, tool), tool) for tool in self._sources(items)]
        ranked = sorted((pair for pair in scored if pair[0] >= least), key=lambda pair: -pair[0])
        sources: list[str] = []
        for _, tool in ranked:
            if self.most_sources is not None and len(sources) >= self.most_sources:
                break
            source = self._feed(tool)
            if source and source not in taken and source not in self._used():
                sources.append(source)
        return _value(BindingType.NODE_RESULTS, sources=tuple(sources)) if sources else None

    def _used(self) -> set[str]:
        """Return the nodes whose results already flow into another one."""
        return {dep for node in self.nodes for dep in node.deps}

    def _sources(self, schema: JsonSchema) -> list[ToolSpec]:
        return [
            tool
            for tool in self.tools
            if tool.role is not ToolRole.FINAL_SYNTHESIS and tool.effect is Effect.READ and fits(tool, schema)
        ]


def _value(kind: BindingType, *, literal: str = "", sources: tuple[str, ...] = ()) -> ArgumentValue:
    return ArgumentValue(type=kind, literal_value=literal, source_node_ids=sources, path="")


def _shortened(goal: str) -> str:
    half = MAX_LITERAL_CHARS // 2
    return goal if len(goal) <= MAX_LITERAL_CHARS else f"{goal[:half]} [...] {goal[-half:]}"


def _short_name(tool_name: str) -> str:
    return re.sub(r"^(?:get|fetch|list|read|query|find|load)_(?=\w)", "", tool_name)


def _read_tools(lines: str) -> list[ToolSpec]:
    tools = []
    for line in lines.split("\n"):
        try:
            tools.append(ToolSpec.model_validate_json(line))
        except ValidationError:
            continue  # a line that is no tool cannot be called
    return tools


def _failed_tools(lines: str) -> frozenset[str]:
    """Return the tools that failed in a way that would repeat itself."""
    nodes = [node for line in lines.split("\n") for node in _json(line).get("failed_nodes", [])]
    lasting = [node for node in nodes if classify(parse_code(node["code"])) is not ErrorClass.TRANSIENT]
    return frozenset(node["tool"] for node in lasting)


def _max_nodes(text: str) -> int:
    limit = _json(text).get("max_nodes")
    return limit if isinstance(limit, int) else DEFAULT_MAX_NODES


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
