import json
import time
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from harness.catalog import JsonSchema
from harness.json_schema import mismatch


class Game(BaseModel):
    title: str
    price: Decimal | None = None
    tags: list[str] = []


class Folder(BaseModel):
    name: str
    inside: list["Folder"] = []


GAMES = TypeAdapter(list[Game]).json_schema()


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (None, {"type": "null"}),
        (True, {"type": "boolean"}),
        (2, {"type": "integer"}),
        (2.0, {"type": "integer"}),
        (2, {"type": "number"}),
        (2.5, {"type": "number"}),
        ("", {"type": "string"}),
        ([], {"type": "array"}),
        ({}, {"type": "object"}),
        (None, {"type": ["string", "null"]}),
        (5, {}),
        (5, {"type": None}),
        ("b", {"enum": ["a", "b"]}),
        (1, {"enum": [1.0]}),
        ({"a": [1]}, {"const": {"a": [1]}}),
        (3, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (3, {"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        (3, {"anyOf": []}),
        (3, {"allOf": [{"type": "integer"}, {"minimum": 3}]}),
        ([1, "a"], {"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}),
        ({"a": 1}, {"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}),
        ({"b": 1}, {"additionalProperties": {"type": "integer"}}),
        ({"x-b": "?"}, {"patternProperties": {"^x-": {}}, "additionalProperties": False}),
        ("abc", {"minLength": 3, "maxLength": 3, "pattern": "^[a-z]+$"}),
        (5, {"minimum": 5, "maximum": 5, "exclusiveMinimum": 4, "exclusiveMaximum": 6}),
        ({"a": 1}, {"minProperties": 1, "maxProperties": 1}),
        (True, {"minimum": 5, "minLength": 3}),
        (None, {"minimum": 5, "minItems": 3}),
    ],
)
def test_accepts_what_fits(value: JsonValue, schema: JsonSchema) -> None:
    assert mismatch(value, schema) is None


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        (1, {"type": "null"}, "expected null, got 1"),
        (1, {"type": "boolean"}, "expected boolean, got 1"),
        (True, {"type": "integer"}, "expected integer, got true"),
        (False, {"type": "number"}, "expected number, got false"),
        (2.5, {"type": "integer"}, "expected integer, got 2.5"),
        (10**40, {"type": "string"}, "expected string, got a huge integer"),
        (None, {"type": "string"}, "expected string, got null"),
        ("a", {"type": "array"}, "expected array, got 'a'"),
        ([1, 2], {"type": "object"}, "expected object, got an array of 2 items"),
        ({"a": 1}, {"type": "array"}, "expected array, got an object with the fields 'a'"),
        (1, {"type": ["string", "null"]}, "expected string or null, got 1"),
        ("c", {"enum": ["a", "b"]}, "expected one of 'a', 'b', got 'c'"),
        (True, {"enum": [1]}, "expected one of 1, got true"),
        (1, {"const": 2}, "expected one of 2, got 1"),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "expected string or null, got 1"),
        (1, {"oneOf": [{"type": "string"}, False]}, "expected string or nothing, got 1"),
        (2, {"allOf": [{"type": "integer"}, {"minimum": 3}]}, "expected at least 3, got 2"),
        (["a"], {"items": {"type": "integer"}}, "at '/0': expected integer, got 'a'"),
        ([1, 2], {"prefixItems": [True], "items": False}, "at '/1': nothing is allowed here"),
        ([1, 2], {"maxItems": 1}, "expected at most 1 items, got 2"),
        ([], {"minItems": 1}, "expected at least 1 items, got 0"),
        ({}, {"required": ["a", "b"]}, "missing fields: 'a', 'b'"),
        (
            {"a": 1, "c": 2},
            {"properties": {"a": True}, "additionalProperties": False},
            "at '/c': nothing is allowed here",
        ),
        (
            {"a/b": {"c": 1}},
            {"additionalProperties": {"additionalProperties": {"type": "string"}}},
            "at '/a~1b/c': expected",
        ),
        ({}, {"minProperties": 1}, "expected at least 1 fields, got 0"),
        ("ab", {"minLength": 3}, "expected at least 3 characters, got 2"),
        ("abcd", {"maxLength": 3}, "expected at most 3 characters, got 4"),
        ("A", {"pattern": "^[a-z]+$"}, "expected text that matches '^[a-z]+$', got 'A'"),
        (4, {"minimum": 5}, "expected at least 5, got 4"),
        (6, {"maximum": 5}, "expected at most 5, got 6"),
        (4, {"exclusiveMinimum": 4}, "expected more than 4, got 4"),
        (6.0, {"exclusiveMaximum": 6}, "expected less than 6, got 6.0"),
    ],
)
def test_names_what_was_expected_and_where(value: JsonValue, schema: JsonSchema, message: str) -> None:
    assert (mismatch(value, schema) or "").startswith(message)


def test_reports_the_option_that_comes_nearest() -> None:
    schema: JsonSchema = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "string"}}]}

    assert mismatch(["a", 1], schema) == "at '/1': expected string, got 1"


def test_what_stands_for_a_private_value_may_stand_for_a_number() -> None:
    schema: JsonSchema = {"properties": {"card": {"type": "integer", "minimum": 1}, "paid": {"type": "boolean"}}}

    assert mismatch({"card": "<CARD_3f9a2c41>"}, schema) is None
    assert mismatch({"card": "a <CARD_3f9a2c41>"}, schema) == "at '/card': expected integer, got 'a <CARD_3f9a2c41>'"
    assert mismatch({"paid": "<CARD_3f9a2c41>"}, schema) == "at '/paid': expected boolean, got '<CARD_3f9a2c41>'"


def test_follows_references_of_pydantic_schemas() -> None:
    assert mismatch([{"title": "Hades", "price": 24.99, "tags": ["fast"]}], GAMES) is None
    assert mismatch([{"title": "Hades"}, {"price": None}], GAMES) == "at '/1': missing fields: 'title'"
    assert mismatch([{"title": "Hades", "tags": "fast"}], GAMES) == "at '/0/tags': expected array, got 'fast'"


def test_follows_recursive_references() -> None:
    schema = Folder.model_json_schema()

    assert mismatch({"name": "a", "inside": [{"name": "b", "inside": []}]}, schema) is None
    assert mismatch({"name": "a", "inside": [{"name": 1}]}, schema) == "at '/inside/0/name': expected string, got 1"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema"},
        {"$ref": 5},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
            "$ref": "#/$defs/a",
        },
        {"type": 5, "enum": "a", "required": "a", "properties": [], "minLength": "1", "anyOf": {}, "allOf": 1},
        {"pattern": "("},
        {"pattern": "a{99999999999999999999}"},
        {"pattern": "(a+)+$"},
        {"pattern": "a*a*a*a*a*b"},
        {"pattern": 5},
        {"items": 5, "prefixItems": {}},
    ],
    ids=str,
)
def test_reads_what_it_cannot_follow_as_allowing_everything(schema: JsonSchema) -> None:
    assert mismatch("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", schema) is None
    assert mismatch(["a"], schema) is None


def test_leaves_patterns_that_take_long_to_the_tool() -> None:
    many_options = "a?" * 66 + "a" * 66

    assert mismatch("a" * 66, {"pattern": many_options}) is None


def test_leaves_long_patterns_to_the_tool() -> None:
    assert mismatch("A", {"pattern": "a" * 201}) is None


def test_leaves_patterns_on_long_text_to_the_tool() -> None:
    assert mismatch("A" * 101, {"pattern": "^[a-z]*$"}) is None


def test_work_is_bounded_on_schemas_that_branch_without_end() -> None:
    branching: JsonSchema = {
        "$defs": {"t": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}}},
        "$ref": "#/$defs/t",
    }
    value: JsonValue = "leaf"
    for _ in range(40):
        value = [value]

    started = time.process_time()
    assert mismatch(value, branching) is None
    assert time.process_time() - started < 2


def test_nesting_is_bounded() -> None:
    value: JsonValue = 1
    schema: JsonSchema = {"type": "string"}
    for _ in range(300):
        value, schema = [value], {"items": schema}

    assert mismatch(value, schema) is None


def test_messages_stay_short() -> None:
    assert len(mismatch("x" * 1_000_000, {"type": "integer"}) or "") < 200
    assert len(mismatch(1, {"enum": [str(i) for i in range(10_000)]}) or "") < 200


class Everything(BaseModel):
    number: float = Field(ge=0, lt=10)
    count: int | None = None
    mode: Literal["fast", "slow"] = "fast"
    names: dict[str, int] = {}
    pair: tuple[int, str] = (1, "a")
    code: str = Field(default="ab", pattern="^[a-z]{2}$")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 20) | st.sampled_from(["fast", "ab", "x", ""]) | st.just(2.5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=120)
@given(st.dictionaries(st.sampled_from([*Everything.model_fields, "other"]), _JSON))
def test_whatever_pydantic_accepts_fits_its_schema(value: dict[str, Any]) -> None:
    try:
        Everything.model_validate_json(json.dumps(value), strict=True)
    except ValueError:
        return

    assert mismatch(value, Everything.model_json_schema()) is None


_SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({}, optional={"type": st.sampled_from(["string", "array", "object", 5, None])}),
    lambda inner: st.dictionaries(
        st.sampled_from(
            [
                "$ref",
                "$defs",
                "anyOf",
                "allOf",
                "items",
                "prefixItems",
                "properties",
                "required",
                "enum",
                "minItems",
                "pattern",
            ]
        ),
        inner
        | st.lists(inner, max_size=2)
        | st.sampled_from(["#/$defs/a", "a", 3])
        | st.fixed_dictionaries({"a": inner}),
        max_size=4,
    ),
    max_leaves=8,
)


@settings(max_examples=120)
@given(_JSON, _SCHEMAS.filter(lambda schema: isinstance(schema, dict)))
def test_is_total_on_any_schema(value: JsonValue, schema: JsonSchema) -> None:
    assert isinstance(mismatch(value, schema), str | None)
