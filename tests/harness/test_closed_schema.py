import pytest
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from harness.catalog import JsonSchema
from harness.closed_schema import closed
from harness.json_schema import mismatch


class Line(BaseModel):
    sku: str
    count: int = 1


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Tree(BaseModel):
    children: list["Tree"] = []


SCHEMAS: dict[str, JsonSchema] = {
    "lines": TypeAdapter(list[Line]).json_schema(),
    "one or none": TypeAdapter(Line | None).json_schema(),
    "one of two": TypeAdapter(Line | Loose).json_schema(),
    "by name": TypeAdapter(dict[str, Line]).json_schema(),
    "loose": TypeAdapter(Loose).json_schema(),
    "tree": TypeAdapter(Tree).json_schema(),
    "mixed": {"properties": {"a": {"type": "integer"}}, "anyOf": [{"properties": {"b": {"type": "integer"}}}]},
    "a field called properties": {"type": "object", "properties": {"properties": {"type": "object"}}},
}
GOOD: list[tuple[str, JsonValue]] = [
    ("lines", [{"sku": "desk", "count": 5}]),
    ("one or none", None),
    ("one of two", {"name": "a", "more": 1}),
    ("by name", {"any": {"sku": "desk"}}),
    ("loose", {"name": "a", "more": 1}),
    ("tree", {"children": [{"children": []}]}),
    ("mixed", {"a": 1, "b": 2}),
    ("a field called properties", {"properties": {"x": 1}}),
]
MISSPELT: list[tuple[str, JsonValue]] = [
    ("lines", [{"sku": "desk", "cont": 5}]),
    ("one or none", {"sku": "desk", "cont": 5}),
    ("by name", {"any": {"sku": "desk", "cont": 5}}),
    ("tree", {"children": [{"childs": []}]}),
]


@pytest.mark.parametrize(("name", "value"), GOOD, ids=[name for name, _ in GOOD])
def test_what_is_listed_or_explicitly_allowed_fits(name: str, value: JsonValue) -> None:
    assert mismatch(value, closed(SCHEMAS[name])) is None


@pytest.mark.parametrize(("name", "value"), MISSPELT, ids=[name for name, _ in MISSPELT])
def test_an_unknown_field_does_not_fit(name: str, value: JsonValue) -> None:
    assert mismatch(value, SCHEMAS[name]) is None
    assert mismatch(value, closed(SCHEMAS[name])) is not None


def test_a_schema_of_any_depth_is_closed_as_far_as_it_matters() -> None:
    schema: JsonSchema = {"type": "string"}
    for _ in range(500):
        schema = {"type": "array", "items": schema}

    assert mismatch("text", closed(schema)) is not None
