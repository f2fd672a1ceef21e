"""Toolkits: typed Python functions as tools, with their schemas, policies and rules."""

import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PydanticUserError, TypeAdapter, create_model

from activities.model.cards import ModelCards
from activities.model.request import Model
from activities.result_schema import result_schema
from activities.toolkit_rules import toolkit_problems
from harness.catalog import Catalog, Effect, ToolRole, ToolSpec
from harness.verification import Verdict

MODEL_TOOL_TIMEOUT = timedelta(seconds=60)
BUILT_IN = {"games": "activities.toolkits.games:TOOLKIT"}
"""Where the toolkits are that come with Whippletree, by name."""


class ToolkitError(Exception):
    """A toolkit cannot be found or cannot be used. The message is one line."""


@dataclass(frozen=True)
class ToolContext:
    """What a tool may know about the call it serves. A tool gets it by a parameter annotated with this class."""

    run_id: str
    node_id: str
    try_number: int
    idempotency_key: str
    """Equal for all tries of a node, also after a crash; different for another node or attempt."""
    deadline: datetime
    """When this try is given up."""
    model: Model
    """The run's models, bounded by the tokens that the budget granted to this call, at the price of SYNTHESIS."""
    max_tokens: int
    """Tokens of that grant, prompt and output together."""
    feedback: str = ""
    """Why the last report of this run was rejected; empty for a first report."""


class Report(BaseModel):
    """Result of a FINAL_SYNTHESIS tool. Subclass it to add structured fields."""

    report: str


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
        problems = list(toolkit_problems([tool.spec for tool in self.tools]))
        if problems:
            raise ToolkitError(f"toolkit {self.name!r}: {'; '.join(problems)}")

    def by_name(self) -> dict[str, Tool]:
        """Return the tools by their names."""
        return {tool.spec.name: tool for tool in self.tools}


def tool(
    *,
    role: ToolRole = ToolRole.DATA,
    effect: Effect = Effect.READ,
    timeout: timedelta = timedelta(seconds=5),
    max_tries: int = 3,
    version: str = "1",
    ageing: bool = False,
    max_model_tokens: int = 0,
) -> Callable[[Callable[..., Any]], Tool]:
    """Turn a typed function with a docstring into a tool; its schemas come from the signature."""

    def decorate(function: Callable[..., Any]) -> Tool:
        hints = _hints(function)
        context_parameter = next((name for name, hint in hints.items() if hint is ToolContext), None)
        try:
            arguments = _arguments_model(function, hints, context_parameter)
            result = TypeAdapter(hints["return"])
            parameters, returned = arguments.model_json_schema(), result_schema(result)
        except PydanticUserError as error:
            raise ToolkitError(f"tool {function.__name__!r}: its types have no JSON schema: {error.message}") from error
        spec = ToolSpec(
            name=function.__name__,
            description=inspect.cleandoc(function.__doc__ or ""),
            parameters=parameters,
            result=returned,
            role=role,
            effect=effect,
            timeout=timeout,
            max_tries=max_tries,
            version=version,
            ageing=ageing,
            max_model_tokens=max_model_tokens,
        )
        return Tool(spec, function, arguments, result, context_parameter)

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


def load_toolkit(name: str) -> Toolkit:
    """Return a toolkit by its built-in name, or by `package.module:attribute`.

    Raises:
        ToolkitError: saying what was looked for and what there is.
    """
    module_name, _, attribute = BUILT_IN.get(name, name).partition(":")
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        known = ", ".join(BUILT_IN)
        raise ToolkitError(
            f"no toolkit is called {name!r}; built in: {known}; or name your own as package.module:attribute"
        )
    try:
        module = importlib.import_module(module_name)
    except ToolkitError as error:
        raise ToolkitError(f"toolkit {name!r}: {error}") from error
    except (Exception, SystemExit) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise ToolkitError(f"toolkit {name!r}: the module {module_name!r} cannot be imported: {why}") from error
    found = getattr(module, attribute, None)
    if isinstance(found, Toolkit):
        return found
    there = ", ".join(key for key, value in vars(module).items() if isinstance(value, Toolkit)) or "no toolkit at all"
    what = "has no" if found is None else f"has a {type(found).__name__}, not a Toolkit, as"
    raise ToolkitError(f"toolkit {name!r}: the module {module_name!r} {what} {attribute!r}; it has {there}")


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function, all of which a tool must state."""
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
            raise ToolkitError(f"tool {name!r}: {parameter} is no named parameter; name each argument")
        if parameter.name not in hints:
            raise ToolkitError(f"tool {name!r}: the parameter {parameter.name!r} has no type; annotate it")
    if "return" not in hints:
        raise ToolkitError(f"tool {name!r}: the result has no type; annotate it with -> type")
    return hints


def _arguments_model(
    function: Callable[..., Any], hints: dict[str, Any], context_parameter: str | None
) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == context_parameter:
            continue
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (hints[name], default if default is ... else Field(default=default))
    return create_model(f"{function.__name__}_arguments", __config__=ConfigDict(extra="forbid", strict=True), **fields)
