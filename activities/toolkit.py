"""Toolkits: typed Python functions as tools, with their schemas, policies and rules."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from activities.model.cards import ModelCards
from activities.tool_context import ToolContext
from activities.tool_docs import read_doc
from activities.tool_signature import SignatureError, ToolSignature, read_signature
from activities.toolkit_rules import toolkit_problems
from harness.catalog import (
    USUAL_BACKOFF,
    Backoff,
    Catalog,
    Effect,
    RateLimit,
    ToolRole,
    ToolSpec,
)
from harness.errors import ErrorCode, ToolError
from harness.verification import Verdict

__all__ = [
    "MODEL_TOOL_TIMEOUT",
    "Backoff",
    "Effect",
    "ErrorCode",
    "RateLimit",
    "Report",
    "ReportRule",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolRole",
    "Toolkit",
    "ToolkitError",
    "describe",
    "tool",
]

MODEL_TOOL_TIMEOUT = timedelta(seconds=60)


class ToolkitError(Exception):
    """A toolkit cannot be found or cannot be used. The message is one line."""


class Report(BaseModel):
    """Result of a FINAL_SYNTHESIS tool. Subclass it to add structured fields."""

    report: str


_PLAIN_RESULTS: dict[str, type] = {"str": str, "int": int, "bool": bool}
"""By the name that pydantic has for them."""


@dataclass(frozen=True)
class Tool:
    """A function with everything the harness must know about it."""

    spec: ToolSpec
    function: Callable[..., Any]
    arguments: type[BaseModel]
    """Validates the arguments: strict, extra forbidden."""
    result: TypeAdapter[Any]
    context_parameter: str | None
    """Name of the parameter that takes the ToolContext, if the function wants it."""

    @cached_property
    def is_async(self) -> bool:
        """Return whether the function runs on the event loop, not in a thread."""
        return inspect.iscoroutinefunction(self.function)

    @cached_property
    def plain_result(self) -> type | None:
        """Return the type of the results when each of them is its own JSON value; None when they may need encoding."""
        schema = self.result.core_schema
        return _PLAIN_RESULTS.get(schema["type"]) if schema.keys() == {"type"} else None

    def of_toolkit(self, name: str) -> "Tool":
        """Return the tool with the name of the toolkit that it comes from."""
        return replace(self, spec=self.spec.model_copy(update={"toolkit": name}))


ReportRule = Callable[[str, JsonValue, dict[str, JsonValue]], Verdict | Awaitable[Verdict]]
"""(goal, report result, results by tool name) -> verdict."""


@dataclass(frozen=True)
class Toolkit:
    """A named set of tools, with what the planner and the verifier must know beside them."""

    name: str
    tools: tuple[Tool, ...]
    guidance: str = ""
    """Advice to the planner."""
    verify: ReportRule | None = None

    def __post_init__(self) -> None:
        """Refuse a set of tools that could not run.

        Raises:
            ToolkitError: naming every tool that is wrong and what would be right.
        """
        _refuse_strangers(self.name, self.tools)
        problems = list(toolkit_problems([tool.spec for tool in self.tools]))
        if problems:
            raise ToolkitError(f"toolkit {self.name!r}: {'; '.join(problems)}")

    def by_name(self) -> dict[str, Tool]:
        """Return the tools by their names."""
        return {tool.spec.name: tool for tool in self.tools}


def _refuse_strangers(name: str, tools: object) -> None:
    given = tools if isinstance(tools, tuple) else (tools,)
    strange = next((each for each in given if not isinstance(each, Tool)), None)
    if strange is None and isinstance(tools, tuple):
        return
    what = "its tools are no tuple" if strange is None else f"{getattr(strange, '__name__', strange)!r} is no tool"
    raise ToolkitError(
        f"toolkit {name!r}: {what}; decorate each function with @tool() and give a tuple: (first, second), or (only,)"
    )


def tool(
    bare: object = None,
    /,
    *,
    name: str = "",
    role: ToolRole = ToolRole.DATA,
    effect: Effect = Effect.READ,
    timeout: timedelta = timedelta(seconds=5),
    max_tries: int = 3,
    backoff: Backoff = USUAL_BACKOFF,
    rate_limit: RateLimit | float | None = None,
    max_result_bytes: int | None = None,
    version: str = "1",
    ageing: bool = False,
    max_model_tokens: int = 0,
    permission: str = "",
    needs_approval: bool | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    """Turn a typed function with a docstring into a tool; its schemas come from the signature.

    Args:
        bare: nothing; it is there to tell `@tool` from `@tool()`.
        name: what plans call it by; the function's own name when empty.
        role: what its result is for.
        effect: what it may do to the world; decides tries, reuse and whether a run may use it unasked.
        timeout: time limit of one try.
        max_tries: tries of one dispatch, the first included. A WRITE always has one.
        backoff: waits between tries.
        rate_limit: how often it may be called by all workers together. A number is that many calls a second of its
            own; tools with a RateLimit of the same name share it.
        max_result_bytes: largest encoded result, where that is less than the run's own limit.
        version: results are reused only between equal versions.
        ageing: True for a READ whose answer grows stale: never reused.
        max_model_tokens: most tokens, prompt and output together, that one try may use on models; 0 for none.
        permission: what a run must be granted to use it; empty for nothing beyond its name.
        needs_approval: whether a person must approve a call; None leaves it to the effect.

    Raises:
        ToolkitError: in one line, naming the function, what is wrong with it and what would be right.
    """
    if bare is not None:
        raise ToolkitError(f"tool {_name(bare)!r}: write @tool() with parentheses")
    policy = {
        "role": role,
        "effect": effect,
        "timeout": timeout,
        "max_tries": max_tries,
        "backoff": backoff,
        "max_result_bytes": max_result_bytes,
        "version": version,
        "ageing": ageing,
        "max_model_tokens": max_model_tokens,
        "permission": permission,
        "needs_approval": needs_approval,
    }

    def decorate(function: Callable[..., Any]) -> Tool:
        called = name or _name(function)
        try:
            doc = read_doc(function)
            signature = read_signature(function, doc.parameters)
            limit = rate_limit if isinstance(rate_limit, RateLimit | None) else _own_limit(called, rate_limit)
            spec = _spec(called, doc.description, signature, {**policy, "rate_limit": limit})
        except SignatureError as error:
            raise ToolkitError(f"tool {called!r}: {error}") from error
        except ValidationError as error:
            raise ToolkitError(f"tool {called!r}: {_findings(error)}") from error
        return Tool(spec, function, signature.arguments, signature.result, signature.context_parameter)

    return decorate


def describe(toolkit: Toolkit, cards: ModelCards) -> Catalog:
    """Return a toolkit as data, with the models that serve it."""
    catalog = Catalog(
        toolkit=toolkit.name,
        tools=tuple(tool.spec for tool in toolkit.tools),
        model=cards.planner,
        guidance=toolkit.guidance,
        has_verifier=toolkit.verify is not None,
    )
    others = {"role_models": dict(cards.by_role), "fallback": cards.fallback}
    return catalog.model_copy(update={name: value for name, value in others.items() if value})


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _own_limit(name: str, per_second: float) -> RateLimit:
    return RateLimit(name=name, per_second=per_second)


def _spec(name: str, description: str, signature: ToolSignature, policy: dict[str, Any]) -> ToolSpec:
    """Build the spec with the fields that differ from their default only: each byte is kept in history."""
    usual = {key: field.get_default() for key, field in ToolSpec.model_fields.items()}
    unusual = {key: value for key, value in policy.items() if value != usual[key]}
    return ToolSpec(
        name=name,
        description=description,
        parameters=signature.parameters,
        result=signature.result_schema,
        **unusual,
    )


def _findings(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))} is {each['input']!r}: {each['msg']}" for each in found)
