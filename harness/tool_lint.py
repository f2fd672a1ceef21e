"""Lint of tools: what makes them hard to use for a model, though they would run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from harness.catalog import Effect, JsonSchema, ToolRole, ToolSpec
from harness.errors import quoted
from harness.schema_shape import has_object_union, is_untyped, object_levels, target_of
from harness.tool_names import VAGUE_PARAMETERS, VAGUE_TOOLS, near_collisions

MAX_TOOLS = 8
"""More tools than these are not shown to the planner at once, unless a run asks for it."""
MAX_DESCRIPTION_CHARS = 1024
MAX_OBJECT_LEVELS = 2
"""Objects inside one another in one argument."""

# "creates the issue" and "Issue is deleted from", but not "sends" alone: it does not say what.
_CHANGE = re.compile(
    r"\b(?:add|append|apply|approve|archive|assign|block|book|buy|cancel|change|charge|clear|close|commit|copy|create|"
    r"delet|deploy|disable|drop|edit|empt|enable|execut|fill|insert|install|launch|lock|make|mark|merge|modif|move|"
    r"open|order|overwrit|pay|place|post|publish|purchase|push|put|record|refund|register|reject|remov|renam|replac|"
    r"reserv|reset|restart|restor|revok|save|schedul|send|set|ship|sign|stage|start|stop|stor|submit|subscrib|switch|"
    r"transfer|turn|updat|upload|wip|withdraw|writ)[a-z]{0,4}\s+\S",
    re.IGNORECASE,
)


class LintRule(StrEnum):
    """What a finding is about."""

    TOO_MANY_TOOLS = "too-many-tools"
    SIMILAR_NAME = "similar-name"
    VAGUE_NAME = "vague-name"
    NO_DESCRIPTION = "no-description"
    LONG_DESCRIPTION = "long-description"
    UNTYPED_PARAMETER = "untyped-parameter"
    DEEP_NESTING = "deep-nesting"
    OBJECT_UNION = "object-union"
    UNCLEAR_WRITE = "unclear-write"
    UNTYPED_RESULT = "untyped-result"


REMEDIES = {
    LintRule.TOO_MANY_TOOLS: "divide them into toolkits by task, so that no model call has to pick some first",
    LintRule.SIMILAR_NAME: "rename one, so that the two differ in what they say, or make them one",
    LintRule.VAGUE_NAME: "name a tool for what it does (get_prices), a parameter for what it holds (order_id)",
    LintRule.NO_DESCRIPTION: 'say in the docstring what the tool gives, and under "Args:" what each parameter means',
    LintRule.LONG_DESCRIPTION: f"keep to {MAX_DESCRIPTION_CHARS:,} characters: each planning call pays for them",
    LintRule.UNTYPED_PARAMETER: "annotate it with what fits: str, int, Literal, a list of one, a model with fields",
    LintRule.DEEP_NESTING: "make inner fields parameters of their own, or take an id in place of an object",
    LintRule.OBJECT_UNION: "make a tool for each form, or one object with optional fields",
    LintRule.UNCLEAR_WRITE: "say what it creates, changes, sends or deletes, and where; if nothing, declare it READ",
    LintRule.UNTYPED_RESULT: "return a model, a TypedDict or a list of one; an MCP server declares an outputSchema",
}
"""What would be right."""


@dataclass(frozen=True)
class LintFinding:
    """One thing that would be better."""

    rule: LintRule
    tool: str
    """Empty when it is about all tools together."""
    parameter: str
    """Empty when it is about the tool itself."""
    problem: str
    remedy: str
    """What would be right."""


def lint(tools: Sequence[ToolSpec]) -> tuple[LintFinding, ...]:
    """Return everything that would be better, first of the tools together, then tool by tool."""
    return (*_of_all(tools), *(finding for tool in tools for finding in _of_tool(tool)))


def parameter_description(root: JsonSchema, schema: JsonSchema) -> str:
    """Return what is said of a parameter: by itself, else by the type that it refers to; empty for nothing."""
    return _text(schema) or _text(target_of(root, schema))


def _of_all(tools: Sequence[ToolSpec]) -> Iterator[LintFinding]:
    if len(tools) > MAX_TOOLS:
        problem = f"{len(tools)} tools are more than the {MAX_TOOLS} that the planner is shown"
        yield _finding(LintRule.TOO_MANY_TOOLS, "", "", problem)
    for name, other in near_collisions(tool.name for tool in tools):
        yield _finding(LintRule.SIMILAR_NAME, name, "", f"it is easily taken for the tool {quoted(other)}")


def _of_tool(tool: ToolSpec) -> Iterator[LintFinding]:
    description = tool.description.strip()
    if tool.name.casefold() in VAGUE_TOOLS:
        yield _finding(LintRule.VAGUE_NAME, tool.name, "", "its name does not say what it does")
    if not description:
        yield _finding(LintRule.NO_DESCRIPTION, tool.name, "", "it has no description")
    if len(description) > MAX_DESCRIPTION_CHARS:
        yield _finding(LintRule.LONG_DESCRIPTION, tool.name, "", _length(description))
    if tool.effect is not Effect.READ and not _CHANGE.search(description):
        problem = f"it is a {tool.effect}, and nothing says what it changes"
        yield _finding(LintRule.UNCLEAR_WRITE, tool.name, "", problem)
    if is_untyped(tool.result, tool.result):
        yield _finding(LintRule.UNTYPED_RESULT, tool.name, "", "its result, or what that holds, has no declared type")
    for name, other in near_collisions(tool.parameter_schemas):
        yield _finding(LintRule.SIMILAR_NAME, tool.name, name, f"it is easily taken for {quoted(other)}")
    for name, schema in tool.parameter_schemas.items():
        for rule, problem in _of_parameter(tool, name, schema):
            yield _finding(rule, tool.name, name, problem)


def _of_parameter(tool: ToolSpec, name: str, schema: JsonSchema) -> Iterator[tuple[LintRule, str]]:
    root = tool.parameters
    description = parameter_description(root, schema)
    if name.casefold() in VAGUE_PARAMETERS:
        yield LintRule.VAGUE_NAME, "its name does not say what to give"
    if not description:
        yield LintRule.NO_DESCRIPTION, "it has no description"
    if len(description) > MAX_DESCRIPTION_CHARS:
        yield LintRule.LONG_DESCRIPTION, _length(description)
    # A report is made of whatever the tools before it have given.
    if tool.role is not ToolRole.FINAL_SYNTHESIS and is_untyped(root, schema):
        yield LintRule.UNTYPED_PARAMETER, "its type, or that of what it holds, is not declared"
    if object_levels(root, schema, MAX_OBJECT_LEVELS + 1) > MAX_OBJECT_LEVELS:
        yield LintRule.DEEP_NESTING, f"it has more than {MAX_OBJECT_LEVELS} levels of objects inside one another"
    if has_object_union(root, schema, MAX_OBJECT_LEVELS + 1):
        yield LintRule.OBJECT_UNION, "it, or something in it, may be one of several objects"


def _finding(rule: LintRule, tool: str, parameter: str, problem: str) -> LintFinding:
    return LintFinding(rule, tool, parameter, problem, REMEDIES[rule])


def _length(description: str) -> str:
    return f"its description has {len(description):,} characters"


def _text(schema: JsonValue) -> str:
    text = schema.get("description") if isinstance(schema, dict) else None
    return text.strip() if isinstance(text, str) else ""
