"""A tool as lines for people: what it takes and gives, and what differs from the usual in how it is called."""

from collections.abc import Iterator
from datetime import timedelta

from pydantic import JsonValue

from cli.plain_text import one_line
from harness.catalog import JsonSchema, ToolSpec
from harness.schema_keywords import describe, fixed_values, option_groups, shown, type_names
from harness.tool_lint import LintFinding, parameter_description


def tool_lines(tool: ToolSpec) -> Iterator[str]:
    """Return the lines of one tool."""
    yield f"{one_line(tool.name)}  {tool.role} {tool.effect}  from {one_line(tool.toolkit) or 'no toolkit'}"
    if tool.description.strip():
        yield f"  {one_line(tool.description)}"
    for number, (name, schema) in enumerate(tool.parameter_schemas.items()):
        yield f"  {'takes' if not number else '     '} {_parameter(tool, name, schema)}"
    if not tool.parameter_schemas:
        yield "  takes nothing"
    yield f"  gives {one_line(type_words(tool.result, tool.result))}"
    if policies := policy_words(tool):
        yield f"  rules {', '.join(policies)}"


def finding_line(finding: LintFinding) -> str:
    """Return what lint has found as one line."""
    where = ".".join(part for part in (finding.tool, finding.parameter) if part) or "all tools"
    return one_line(f"{where}: {finding.rule}: {finding.problem}; {finding.remedy}")


def policy_words(tool: ToolSpec) -> list[str]:
    """Return what differs from the usual in how a tool is called."""
    usual, limit = ToolSpec(name="", description="", parameters={}, result={}), tool.rate_limit
    told = {
        f"timeout {_seconds(tool.timeout)}": tool.timeout != usual.timeout,
        f"{tool.tries} {'tries' if tool.tries > 1 else 'try'}": tool.tries != usual.tries,
        f"back-off {_seconds(tool.backoff.first)} to {_seconds(tool.backoff.limit)}": tool.backoff != usual.backoff,
        f"rate limit {limit.name} {limit.per_second:g} a second" if limit else "": limit is not None,
        f"result up to {tool.max_result_bytes or 0:,} bytes": tool.max_result_bytes is not None,
        f"version {tool.version}": tool.version != usual.version,
        f"needs permission:{tool.permission}": bool(tool.permission),
        "needs approval": tool.needs_approval is True,
        "needs no approval": tool.needs_approval is False,
        "answers age": tool.ageing,
        f"up to {tool.max_model_tokens:,} model tokens": tool.max_model_tokens > 0,
    }
    return [one_line(words) for words, is_told in told.items() if is_told]


def type_words(root: JsonSchema, schema: JsonValue) -> str:
    """Return a few words for what a schema allows, with what lists hold, such as "array of GamePrice"."""
    if not isinstance(schema, dict):
        return describe(schema)
    if isinstance(schema.get("$ref"), str):
        return str(schema["$ref"]).rpartition("/")[2]
    if fixed_values(schema) is not None:
        return describe(schema)
    if schema is root and isinstance(schema.get("title"), str) and "properties" in schema:
        return str(schema["title"])
    if options := [option for group in option_groups(schema) for option in group]:
        return " or ".join(dict.fromkeys(type_words(root, option) for option in options))
    names = type_names(schema)
    if names == ["array"] and "items" in schema:
        return f"array of {type_words(root, schema['items'])}"
    if names == ["object"] and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_words(root, schema['additionalProperties'])}"
    return describe(schema)


def _parameter(tool: ToolSpec, name: str, schema: JsonSchema) -> str:
    if name in tool.required_parameters:
        need = ", required"
    else:
        need = f" = {shown(schema['default'])}" if "default" in schema else ""
    text = parameter_description(tool.parameters, schema)
    return one_line(f"{name}: {type_words(tool.parameters, schema)}{need}{' - ' if text else ''}{text}")


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():g} s"
