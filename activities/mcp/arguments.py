"""Arguments: what a server's JSON schema says of them, checked here field by field before anything is sent."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, JsonValue, RootModel, ValidationError, create_model
from pydantic_core import InitErrorDetails, PydanticCustomError

from harness.catalog import ToolSpec
from harness.json_schema import mismatch
from harness.signature import Signature

Arguments = dict[str, JsonValue]


def arguments_model(spec: ToolSpec) -> type[RootModel[Any]]:
    """Return a model whose one field, `root`, is all arguments together.

    Its errors name the argument, what is wrong and what would be right.
    """
    checked = Annotated[Arguments, AfterValidator(_checker(spec))]
    return create_model(f"{spec.name}_arguments", __base__=RootModel[checked])


def _checker(spec: ToolSpec) -> Callable[[Arguments], Arguments]:
    signature = Signature(spec)

    def check(arguments: Arguments) -> Arguments:
        problems = list(_problems(signature, arguments))
        if problems:
            raise ValidationError.from_exception_data(spec.name, problems)
        return arguments

    return check


def _problems(signature: Signature, arguments: Arguments) -> Iterator[InitErrorDetails]:
    for name in signature.required:
        if name not in arguments:
            yield InitErrorDetails(type="missing", loc=(name,), input=None)
    for name, value in arguments.items():
        if name not in signature.schemas and not signature.takes_extra:
            yield InitErrorDetails(type="extra_forbidden", loc=(name,), input=None)
        elif what := mismatch(value, signature.parameter(name).schema):
            error = PydanticCustomError("schema", "{what}", {"what": what})
            yield InitErrorDetails(type=error, loc=(name,), input=None)
