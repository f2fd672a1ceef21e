"""Rules of toolkits: what a set of tools must keep before any of it can run."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta

from harness.catalog import Effect, RateLimit, ToolRole, ToolSpec
from harness.rate_limits import MODEL_LIMIT

RESERVED_NAMES = frozenset(
    {
        "begin_loop",
        "describe_catalog",
        "draft_plan",
        "keep_state",
        "load_state",
        "recall_fact",
        "remember_fact",
        "route_tools",
        "summarise_steps",
        "take_step",
        "verify_report",
    }
)
"""Activities of the harness itself; a tool runs as an activity of its own name."""
MAX_NAME_CHARS = 64

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def toolkit_problems(tools: Sequence[ToolSpec]) -> Iterator[str]:
    """Yield everything that is wrong with the tools of one toolkit."""
    if not tools:
        yield "it has no tools"
    for name, count in Counter(tool.name for tool in tools).items():
        if count > 1:
            yield f"{count} tools are called {name!r}; names must be unique"
    for tool in tools:
        yield from (f"tool {tool.name!r}: {problem}" for problem in _tool_problems(tool))
    yield from _limit_problems([tool.rate_limit for tool in tools if tool.rate_limit is not None])


def _limit_problems(limits: Sequence[RateLimit]) -> Iterator[str]:
    """Yield what is wrong with the rate limits that several tools share."""
    rates: defaultdict[str, set[float]] = defaultdict(set)
    for limit in limits:
        rates[limit.name].add(limit.per_second)
    for name, found in rates.items():
        if name == MODEL_LIMIT:
            yield f"the rate limit {name!r} is that of the model calls; name it otherwise"
        if len(found) > 1:
            told = " and ".join(f"{rate:g}" for rate in sorted(found))
            yield f"the rate limit {name!r} is {told} calls a second; give its tools the same, or names of their own"


def _tool_problems(tool: ToolSpec) -> Iterator[str]:
    if not _NAME.fullmatch(tool.name) or len(tool.name) > MAX_NAME_CHARS:
        yield f"a name is a letter, then letters, digits, '_', '-' or '.', at most {MAX_NAME_CHARS} in all"
    if tool.name in RESERVED_NAMES:
        yield "this name belongs to the harness; choose another"
    if not tool.description.strip():
        yield "it has no description; give the function a docstring"
    if tool.timeout <= timedelta(0):
        yield f"its timeout is {tool.timeout.total_seconds():g} s; give it more than 0"
    if tool.max_model_tokens < 0:
        yield f"its max_model_tokens is {tool.max_model_tokens}; 0 says that it asks no model"
    if tool.backoff.first > tool.backoff.limit:
        yield "its backoff begins above its limit; let `first` be at most `limit`"
    if tool.ageing and tool.effect is not Effect.READ:
        yield "only a READ can be ageing: what was written is not written again"
    if tool.role is ToolRole.FINAL_SYNTHESIS and tool.effect is not Effect.READ:
        yield "a FINAL_SYNTHESIS tool must be a READ: a rejected report is written anew"
    if tool.role is ToolRole.FINAL_SYNTHESIS and not _has_report(tool):
        yield "a FINAL_SYNTHESIS tool must return an object with a text field 'report'; return a Report"


def _has_report(tool: ToolSpec) -> bool:
    schema = tool.result
    reference = schema.get("$ref")
    definitions = schema.get("$defs")
    if isinstance(reference, str) and isinstance(definitions, dict):
        target = definitions.get(reference.rpartition("/")[2])
        schema = target if isinstance(target, dict) else {}
    properties = schema.get("properties")
    report = properties.get("report") if isinstance(properties, dict) else None
    return isinstance(report, dict) and report.get("type") == "string"
