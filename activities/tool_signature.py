"""Signatures of tools: what a function takes and gives, as models that check it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, TypeAdapter, create_model
from pydantic.fields import FieldInfo

from activities.result_schema import result_schema
from activities.tool_context import ToolContext
from harness.catalog import JsonSchema

_ASIDE = "argument__"
"""Stands before the name of an argument where a model has something else under that name."""


class SignatureError(Exception):
    """A function does not say what a tool must say. The message is one line."""


@dataclass(frozen=True)
class ToolSignature:
    """What a function takes and gives."""

    arguments: type[BaseModel]
    """Validates the arguments: strict, extra forbidden."""
    parameters: JsonSchema
    """JSON schema of the arguments."""
    result: TypeAdapter[Any]
    result_schema: JsonSchema
    context_parameter: str | None
    """Name of the parameter that takes the ToolContext, if the function wants it."""


def read_signature(function: Callable[..., Any], described: Mapping[str, str]) -> ToolSignature:
    """Read the signature of a function; `described` holds what its docstring says of parameters.

    Raises:
        SignatureError: when it lacks a type, or has one that has no JSON schema.
    """
    hints = _hints(function)
    context_parameter = next((name for name, hint in hints.items() if hint is ToolContext), None)
    _refuse_strangers(described, [name for name in hints if name != "return"])
    try:
        arguments = _arguments_model(function, hints, context_parameter, described)
        result = TypeAdapter(hints["return"])
        return ToolSignature(arguments, arguments.model_json_schema(), result, result_schema(result), context_parameter)
    except PydanticUserError as error:
        raise SignatureError(f"its types have no JSON schema: {_one_line(error.message)}") from error


def keywords_of(arguments: BaseModel) -> dict[str, Any]:
    """Return validated arguments as the function takes them."""
    return {name.removeprefix(_ASIDE): value for name, value in vars(arguments).items()}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function, all of which a tool must state."""
    if not inspect.isroutine(function):
        raise SignatureError(f"{type(function).__name__} is no function; decorate a function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SignatureError("it yields its results one by one; return them in a list")
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise SignatureError(f"its types cannot be resolved: {_one_line(str(error))}") from error
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
            raise SignatureError(f"{parameter} is no named parameter; name each argument")
        if parameter.name not in hints:
            raise SignatureError(f"the parameter {parameter.name!r} has no type; annotate it")
    if "return" not in hints:
        raise SignatureError("the result has no type; annotate it with -> type")
    return hints


def _refuse_strangers(described: Mapping[str, str], names: list[str]) -> None:
    strangers = [name for name in described if name not in names]
    if strangers:
        there = ", ".join(map(repr, names)) or "none"
        raise SignatureError(
            f"its docstring describes {', '.join(map(repr, strangers))}, which it does not take; "
            f"its parameters: {there}"
        )


def _arguments_model(
    function: Callable[..., Any], hints: Mapping[str, Any], context_parameter: str | None, described: Mapping[str, str]
) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == context_parameter:
            continue
        hint = _documented(hints[name], described.get(name))
        default = Field() if parameter.default is inspect.Parameter.empty else parameter.default
        field = default if isinstance(default, FieldInfo) else Field(default=default)
        if _is_taken(name):
            fields[_ASIDE + name] = (Annotated[hint, Field(alias=name)], field)
        else:
            fields[name] = (hint, field)
    config = ConfigDict(extra="forbid", strict=True)
    return create_model(f"{function.__name__}_arguments", __config__=config, **fields)


def _documented(hint: Any, text: str | None) -> Any:  # noqa: ANN401 - a type, in whatever form it is written
    """Return a type with a description, which gives way to one that the type has already."""
    if not text:
        return hint
    base, *own = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return Annotated[(base, Field(description=text), *own)]


def _is_taken(name: str) -> bool:
    """Return whether a model cannot have a field of this name, or has something else under it."""
    return name.startswith(("_", "model_")) or hasattr(BaseModel, name)


def _one_line(text: str) -> str:
    return " ".join(text.split())
