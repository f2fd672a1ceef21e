from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, WithJsonSchema, model_serializer
from pydantic_core.core_schema import SerializerFunctionWrapHandler
from typing_extensions import TypedDict

from activities.result_schema import result_schema
from harness.json_pointer import PointerError
from harness.schema_fit import cannot_fit, schema_at


class Plain(BaseModel):
    name: str
    more: "list[Plain]" = []


class Special(Plain):
    secret: str = ""


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Serialized(BaseModel):
    name: str

    @model_serializer(mode="wrap")
    def _with_extra(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**serialize(self), "extra": 1}


class Entry(TypedDict):
    name: str


@dataclass
class Record:
    name: str


ByHand = Annotated[Any, WithJsonSchema({"type": "object", "properties": {"name": {}}})]


@pytest.mark.parametrize("declared", [Plain, Special, Entry, Record], ids=str)
def test_a_field_that_is_not_declared_cannot_exist(declared: Any) -> None:
    schema = result_schema(TypeAdapter(declared))

    assert schema_at(schema, "/name")["type"] == "string"
    with pytest.raises(PointerError):
        schema_at(schema, "/nothing")


@pytest.mark.parametrize("declared", [Open, Serialized, ByHand, dict[str, str], JsonValue], ids=str)
def test_what_may_have_other_fields_stays_open(declared: Any) -> None:
    schema_at(result_schema(TypeAdapter(declared)), "/nothing")


def test_nested_results_are_closed_as_well() -> None:
    schema = result_schema(TypeAdapter(list[Plain] | None))

    assert schema_at(schema, "/0/more/1/name")["type"] == "string"
    with pytest.raises(PointerError):
        schema_at(schema, "/0/more/1/nothing")


def test_a_result_that_lacks_a_required_field_cannot_fit() -> None:
    wanted = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}

    assert "it lacks the field 'price'" in (cannot_fit(result_schema(TypeAdapter(Plain)), wanted) or "")


@pytest.mark.parametrize(
    ("declared", "value"), [(Plain, Special(name="a", secret="b")), (Entry, {"name": "a", "secret": "b"})], ids=str
)
def test_fields_that_are_not_declared_are_really_not_sent(declared: Any, value: Any) -> None:
    sent = TypeAdapter(declared).dump_python(value, mode="json", warnings="error")

    assert "secret" not in sent
