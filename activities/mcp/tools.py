"""Tools: what a server says of a tool, and the servers file, as a Tool of ours."""

import hashlib
import re
from typing import Protocol

import mcp_types as types
from pydantic import JsonValue, TypeAdapter

from activities.mcp.arguments import arguments_model
from activities.mcp.entry import ServerEntry
from activities.mcp.results import value_of, without_secrets
from activities.model.scrubbing import hide
from activities.tool_context import ToolContext
from activities.toolkit import Tool
from harness.catalog import Effect, RateLimit, ToolSpec
from harness.errors import ReportedError, ToolError, bounded

MAX_NAME = 64
MAX_DESCRIPTION = 4_000
"""Characters of a server's description of a tool: it is in every planning prompt."""
_HASH_CHARS = 8
_RESULT: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class Caller(Protocol):
    """What calls the tools of one server."""

    async def call(
        self, tool: types.Tool, spec: ToolSpec, arguments: dict[str, JsonValue], context: ToolContext
    ) -> types.CallToolResult:
        """Call a tool of the server, by its own name."""


def tool_of(offered: types.Tool, entry: ServerEntry, caller: Caller, *, version: str) -> Tool:
    """Return a server's tool as one of ours; `version` is that of the server."""
    spec = spec_of(offered, entry, version=version)

    async def call(root: dict[str, JsonValue], context: ToolContext) -> JsonValue:
        result = await caller.call(offered, spec, root, context)
        try:
            value = await value_of(result, context.artifacts, tool=spec.name)
        except ToolError as error:
            raise ReportedError(error.code, error.message, retry_after_s=error.retry_after_s) from error
        return without_secrets(value, entry.secrets)

    return Tool(spec=spec, function=call, arguments=arguments_model(spec), result=_RESULT, context_parameter="context")


def spec_of(offered: types.Tool, entry: ServerEntry, *, version: str = "") -> ToolSpec:
    """Return a server's tool as the planner sees it. What a policy leaves as usual is not set."""
    policy = entry.policy
    effect = policy.effect(offered.name) or effect_of(offered.annotations)
    said = {
        "effect": effect if effect is not Effect.READ else None,
        "timeout": policy.timeout,
        "max_tries": policy.max_tries,
        "version": bounded(version, 100),
        "ageing": effect is Effect.READ and not policy.is_stable(offered.name),
        "rate_limit": RateLimit(name=_word(f"mcp.{entry.name}"), per_second=policy.per_second)
        if policy.per_second
        else None,
    }
    return ToolSpec.model_validate(
        {
            "name": name_of(entry.name, offered.name),
            "description": _description(offered, entry),
            "parameters": without_secrets({"properties": {}, **offered.input_schema, "type": "object"}, entry.secrets),
            "result": without_secrets(offered.output_schema or {}, entry.secrets),
            **{name: value for name, value in said.items() if value},
        }
    )


def name_of(server: str, tool: str) -> str:
    """Return the name of a server's tool here: letters, digits, '_', '-' and '.', at most 64 of them."""
    name = _word(f"{server}_{tool}")
    if not name[0].isalpha():
        name = f"mcp_{name}"
    if len(name) <= MAX_NAME:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:_HASH_CHARS]
    return f"{name[: MAX_NAME - _HASH_CHARS - 1]}_{mark}"


def effect_of(annotations: types.ToolAnnotations | None) -> Effect:
    """Return the effect that a server's hints stand for; whatever they do not rule out may happen."""
    if annotations is None:
        return Effect.WRITE
    if annotations.read_only_hint:
        return Effect.READ
    is_harmless = annotations.idempotent_hint and annotations.destructive_hint is False
    return Effect.IDEMPOTENT_WRITE if is_harmless else Effect.WRITE


def _description(offered: types.Tool, entry: ServerEntry) -> str:
    title = offered.title or (offered.annotations.title if offered.annotations else None)
    text = hide((offered.description or title or "").strip(), entry.secrets)
    return bounded(text, MAX_DESCRIPTION) or f"The tool {offered.name!r} of the MCP server {entry.name!r}."


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)
