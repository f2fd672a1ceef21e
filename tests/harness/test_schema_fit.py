import time
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from harness.catalog import JsonSchema
from harness.json_pointer import PointerError, resolve_pointer
from harness.json_schema import mismatch
from harness.schema_fit import TextShare, cannot_fit, has_like_items, schema_at, takes_only_text, text_share


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Price(Closed):
    title: str
    amount: float


class Review(Closed):
    title: str
    stars: int


class Folder(Closed):
    name: str
    inside: list["Folder"] = []


class Leaf(Closed):
    name: str
    inside: list[int]


def schema_of(kind: Any) -> JsonSchema:
    return TypeAdapter(kind).json_schema()


STRING: JsonSchema = {"type": "string"}
INTEGER: JsonSchema = {"type": "integer"}


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (STRING, {"type": "array"}, "string where array is needed"),
        (STRING, {"anyOf": [{"type": "array"}, {"type": "null"}]}, "string where array or null is needed"),
        ({"anyOf": [STRING, {"type": "null"}]}, INTEGER, "string or null where integer is needed"),
        ({"type": "boolean"}, {"type": "number"}, "boolean where number is needed"),
        ({"enum": ["a", "b"]}, {"enum": ["c"]}, "one of 'a', 'b' where one of 'c' is needed"),
        ({"const": "long"}, {"type": "string", "maxLength": 2}, "one of 'long' where string is needed"),
        ({"type": "string", "maxLength": 2}, {"const": "long"}, "string where one of 'long' is needed"),
        ({"type": "integer", "minimum": 5}, {"type": "number", "maximum": 4}, "at least 5"),
        ({"type": "array", "maxItems": 1}, {"type": "array", "minItems": 2}, "at least 2 items"),
        (schema_of(Price), schema_of(Review), "it lacks the field 'stars'; its fields are 'title', 'amount'"),
        (schema_of(list[Price]), schema_of(list[Review]), "at '/0': it lacks the field 'stars'"),
        (schema_of(list[str]), schema_of(list[int]), "at '/0': string where integer is needed"),
        (schema_of(dict[str, str]), schema_of(Price), "at '/amount': string where number is needed"),
        (schema_of(tuple[int, str]), schema_of(tuple[int, int]), "at '/1': string where integer is needed"),
        (schema_of(Folder), schema_of(Price), "it lacks the field 'title'; its fields are 'name', 'inside'"),
        (schema_of(Folder), schema_of(Leaf), "at '/inside/0': object where integer is needed"),
        (
            {"type": "object", "required": ["x"]},
            schema_of(Folder),
            "its field 'x' is not allowed; allowed are 'name', 'inside'",
        ),
        ({"allOf": [STRING, {"minLength": 2}]}, {"type": "null"}, "string where null is needed"),
        (STRING, {"$defs": {"n": {"type": "null"}}, "allOf": [{"$ref": "#/$defs/n"}]}, "string where null is needed"),
    ],
)
def test_proves_that_no_value_can_fit(source: JsonSchema, target: JsonSchema, reason: str) -> None:
    assert (cannot_fit(source, target) or "").startswith(reason)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ({}, STRING),
        (STRING, {}),
        ({"type": "number"}, INTEGER),
        ({"type": ["string", "null"]}, {"type": ["integer", "null"]}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}),
        (schema_of(Price), schema_of(Price)),
        (schema_of(list[Price]), schema_of(list[Price] | None)),
        (schema_of(Price | Review), schema_of(Review)),
        (schema_of(Literal["a", 1]), STRING),
        (schema_of(dict[str, str]), schema_of(Folder)),
        ({"type": "object"}, schema_of(Price)),
        ({"type": "object", "properties": {"title": STRING}}, schema_of(Price)),
        (schema_of(Folder), schema_of(Folder)),
        ({"type": "array", "items": False}, schema_of(list[int])),
        ({"type": "array", "maxItems": 0}, schema_of(list[int])),
        ({"type": "integer", "minimum": 5}, {"type": "number", "maximum": 5}),
    ],
)
def test_says_nothing_where_a_value_may_fit(source: JsonSchema, target: JsonSchema) -> None:
    assert cannot_fit(source, target) is None


def test_allows_nothing_where_the_target_allows_nothing() -> None:
    assert cannot_fit(STRING, {"allOf": [False]}) is not None


_SMALL = st.sampled_from(
    [None, True, 0, 3, 2.5, "", "abc", [], [1], ["a"], [1, "a"], {}, {"a": 1}, {"a": "x", "b": []}]
)
_SIMPLES: list[JsonSchema] = [
    {},
    STRING,
    INTEGER,
    {"type": "number", "maximum": 2},
    {"type": ["string", "null"]},
    {"enum": ["abc", 3, None]},
    {"const": []},
    {"type": "string", "minLength": 1},
    {"type": "object", "required": ["a"]},
    {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": False},
]
_SIMPLE = st.sampled_from(_SIMPLES)
_SCHEMAS: st.SearchStrategy[JsonSchema] = st.recursive(
    _SIMPLE,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"allOf": parts}),
        inner.map(lambda item: {"type": "array", "items": item}),
        inner.map(lambda field: {"type": "object", "properties": {"a": field}, "required": ["a"]}),
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(_SMALL, _SCHEMAS, _SCHEMAS)
def test_a_value_that_fits_both_disproves_any_reason(value: JsonValue, source: JsonSchema, target: JsonSchema) -> None:
    if _has_empty_array(value) or mismatch(value, source) or mismatch(value, target):
        return

    assert cannot_fit(source, target) is None


def _has_empty_array(value: JsonValue) -> bool:
    return value == [] or (isinstance(value, dict) and [] in value.values())


@settings(max_examples=120)
@given(_SMALL, _SCHEMAS, st.sampled_from(["", "/a", "/0", "/1", "/a/0", "/b"]))
def test_a_part_that_a_fitting_value_has_is_found(value: JsonValue, schema: JsonSchema, path: str) -> None:
    if mismatch(value, schema):
        return
    try:
        part = resolve_pointer(value, path)
    except PointerError:
        return

    assert mismatch(part, schema_at(schema, path)) is None


@pytest.mark.parametrize(
    ("schema", "path", "expected"),
    [
        (STRING, "", STRING),
        ({"type": "array", "items": INTEGER}, "/7", INTEGER),
        ({"type": "array", "prefixItems": [STRING], "items": INTEGER}, "/0", STRING),
        ({"type": "object", "additionalProperties": INTEGER}, "/x", INTEGER),
        ({"anyOf": [{"type": "array", "items": INTEGER}, {"type": "null"}]}, "/0", INTEGER),
        ({}, "/x/0", {}),
        ({"type": "object"}, "/x", {}),
        ({"items": INTEGER, "additionalProperties": STRING}, "/0", {"anyOf": [STRING, INTEGER]}),
        ({"items": INTEGER, "additionalProperties": STRING}, "/x", STRING),
        (
            {"anyOf": [{"type": "array", "items": INTEGER}, {"type": "object", "additionalProperties": STRING}]},
            "/0",
            {"anyOf": [INTEGER, STRING]},
        ),
        (
            {"type": "array", "allOf": [{"items": INTEGER}, {"items": {"minimum": 1}}]},
            "/0",
            {"allOf": [INTEGER, {"minimum": 1}]},
        ),
    ],
)
def test_finds_the_schema_of_a_part(schema: JsonSchema, path: str, expected: JsonSchema) -> None:
    assert schema_at(schema, path) == expected


def test_a_part_keeps_the_definitions_that_it_refers_to() -> None:
    part = schema_at(schema_of(list[Folder]), "/0/inside/3")

    assert mismatch({"name": "a", "inside": [{"name": 1}]}, part) == "at '/inside/0/name': expected string, got 1"


@pytest.mark.parametrize(
    ("schema", "path", "message"),
    [
        (schema_of(Price), "/amuont", "there is no 'amuont' at the top: its fields are 'title', 'amount'"),
        (schema_of(list[Price]), "/0/stars", "there is no 'stars' at '/0': its fields are 'title', 'amount'"),
        (schema_of(list[Price]), "/title", "there is no 'title' at the top: the value there is array"),
        (schema_of(tuple[int, int]), "/2", "there is no '2' at the top: the value there is array"),
        (STRING, "/0", "there is no '0' at the top: the value there is string"),
        (STRING, "0", "path '0' must be empty or start with '/'"),
        ({"type": "object", "allOf": [{"additionalProperties": False}]}, "/x", "there is no 'x' at the top"),
    ],
)
def test_says_what_exists_instead_of_a_part_that_cannot(schema: JsonSchema, path: str, message: str) -> None:
    with pytest.raises(PointerError) as raised:
        schema_at(schema, path)

    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (STRING, True),
        (schema_of(str | None), True),
        (schema_of(Literal["a", "b"]), True),
        ({"$defs": {"t": STRING}, "$ref": "#/$defs/t"}, True),
        ({"type": ["string", "null"]}, True),
        ({}, False),
        ({"type": "null"}, False),
        (schema_of(str | int), False),
        (schema_of(list[str]), False),
        ({"enum": ["a", 1]}, False),
    ],
)
def test_knows_which_parameters_take_only_text(schema: JsonSchema, *, expected: bool) -> None:
    assert takes_only_text(schema) is expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (schema_of(str | None), TextShare.ALL),
        ({}, TextShare.SOME),
        (schema_of(str | int), TextShare.SOME),
        (INTEGER, TextShare.NONE),
        (schema_of(list[str] | None), TextShare.NONE),
        ({"anyOf": [False]}, TextShare.NONE),
    ],
)
def test_knows_how_much_of_what_a_schema_allows_is_text(schema: JsonSchema, expected: TextShare) -> None:
    assert text_share(schema) is expected


@given(st.sampled_from(["", "a", "7"]), _SCHEMAS)
def test_no_text_fits_where_there_is_none(text: str, schema: JsonSchema) -> None:
    assert mismatch(text, schema) or text_share(schema) is not TextShare.NONE


@pytest.mark.parametrize(
    ("schema", "count", "expected"),
    [
        (schema_of(list[Price]), None, True),
        (schema_of(list[int] | None), 3, True),
        ({}, None, True),
        ({"type": "array", "maxItems": 3}, 3, True),
        ({"type": "array", "maxItems": 3}, 4, False),
        ({"type": "array", "maxItems": 3}, None, False),
        ({"type": "array", "prefixItems": [STRING]}, 2, False),
        ({"properties": {"1": STRING}}, 2, False),
        ({"type": "array", "items": False}, 2, False),
        (STRING, 2, False),
    ],
)
def test_knows_where_one_item_is_like_another(schema: JsonSchema, count: int | None, *, expected: bool) -> None:
    assert has_like_items(schema, count) is expected


@given(_SCHEMAS, st.integers(min_value=1, max_value=4))
def test_like_items_have_one_schema(schema: JsonSchema, count: int) -> None:
    if has_like_items(schema, count):
        assert all(schema_at(schema, f"/{place}") == schema_at(schema, "/0") for place in range(count))


def test_work_is_bounded_on_schemas_that_branch_without_end() -> None:
    link: JsonSchema = {"anyOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/u"}], "type": "object"}
    node: JsonSchema = {"type": "object", "properties": {"a": link, "b": link}, "required": ["a", "b"]}
    branching: JsonSchema = {"$defs": {"t": node, "u": node}, "allOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/u"}]}

    started = time.process_time()
    assert cannot_fit(branching, branching) is None
    assert schema_at(branching, "/a/b/a/b/a/b") == {}
    assert time.process_time() - started < 2


def test_work_is_bounded_on_definitions_that_double() -> None:
    doubling: JsonSchema = {
        "$defs": {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(60)},
        "$ref": "#/$defs/d0",
    }
    many: JsonSchema = {"allOf": [{"anyOf": [STRING] * 20}] * 5}

    started = time.process_time()
    assert cannot_fit(doubling, STRING) is None
    assert cannot_fit(many, STRING) is None
    assert cannot_fit(many, INTEGER) == "string where integer is needed"
    assert time.process_time() - started < 2
