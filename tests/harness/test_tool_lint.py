"""Lint: each rule finds what it is about, and leaves alone what is near it."""

from typing import Any

import pytest

from harness.catalog import Effect, JsonSchema, ToolRole, ToolSpec
from harness.tool_lint import MAX_DESCRIPTION_CHARS, REMEDIES, LintFinding, LintRule, lint

TEXT: JsonSchema = {"type": "string", "description": "City, such as Oslo"}
REFERRING: JsonSchema = {"$ref": "#/$defs/Node"}
NODE: JsonSchema = {
    "type": "object",
    "description": "A node",
    "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": REFERRING}},
}


def a_tool(name: str = "get_weather", /, *, definitions: JsonSchema | None = None, **fields: Any) -> ToolSpec:
    parameters = fields.pop("parameters", {})
    schema = {"type": "object", "properties": parameters, "$defs": definitions or {}}
    usual = {"description": "Give the weather of a city.", "result": {"type": "string"}}
    return ToolSpec(name=name, parameters=schema, **{**usual, **fields})


def taking(schema: JsonSchema, *, definitions: JsonSchema | None = None, **fields: Any) -> ToolSpec:
    described = {"description": "City, such as Oslo", **schema}
    return a_tool(parameters={"city": described}, definitions=definitions, **fields)


def within(*, levels: int) -> JsonSchema:
    schema: JsonSchema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


def found(*tools: ToolSpec) -> list[tuple[LintRule, str, str]]:
    return [(finding.rule, finding.tool, finding.parameter) for finding in lint(tools)]


def numbered(count: int) -> list[ToolSpec]:
    return [a_tool(f"get_{letter}") for letter in "abcdefghi"[:count]]


def test_a_finding_says_what_is_wrong_and_what_would_be_right() -> None:
    assert lint([a_tool(parameters={"data": TEXT})]) == (
        LintFinding(
            LintRule.VAGUE_NAME,
            "get_weather",
            "data",
            "its name does not say what to give",
            "name a tool for what it does (get_prices), a parameter for what it holds (order_id)",
        ),
    )


def test_every_rule_has_a_remedy() -> None:
    assert set(REMEDIES) == set(LintRule)


def test_good_tools_give_no_finding() -> None:
    assert lint([a_tool(parameters={"city": TEXT}), a_tool("get_prices")]) == ()


def test_more_tools_than_the_planner_is_shown_are_too_many() -> None:
    assert found(*numbered(9)) == [(LintRule.TOO_MANY_TOOLS, "", "")]
    assert found(*numbered(8)) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("get_price", "get_price"),
        ("get_price", "get_prices"),
        ("get_price", "price_get"),
        ("get_price", "getprice"),
        ("get_price", "getPrice"),
        ("list_city", "list_cities"),
        ("get_box", "get_boxes"),
        ("find_match", "find_matches"),
        ("find_glass", "find_glasses"),
        ("find_wish", "find_wishes"),
    ],
)
def test_names_that_are_easily_confused_are_found(first: str, second: str) -> None:
    assert found(a_tool(first), a_tool(second)) == [(LintRule.SIMILAR_NAME, second, "")]


def test_parameters_that_are_easily_confused_are_found() -> None:
    tool = a_tool(parameters={"city": TEXT, "cities": TEXT, "day": TEXT})

    assert found(tool) == [(LintRule.SIMILAR_NAME, "get_weather", "cities")]


@pytest.mark.parametrize("second", ["set_price", "get_price_list", "get_pricing", "get_pries"])
def test_names_that_differ_in_a_word_are_not_confused(second: str) -> None:
    assert found(a_tool("get_price"), a_tool(second)) == []


@pytest.mark.parametrize(
    ("one", "other"), [("get_status", "get_statu"), ("get_as", "get_a"), ("get_glass", "get_glas")]
)
def test_what_only_looks_like_a_plural_is_none(one: str, other: str) -> None:
    assert found(a_tool(one), a_tool(other)) == []


@pytest.mark.parametrize("name", ["data", "Input", "args"])
def test_vague_names_of_tools_and_parameters_are_found(name: str) -> None:
    assert found(a_tool(name)) == [(LintRule.VAGUE_NAME, name, "")]
    assert found(a_tool(parameters={name: TEXT})) == [(LintRule.VAGUE_NAME, "get_weather", name)]
    assert found(a_tool(f"get_{name}_sheet", parameters={f"{name}_format": TEXT})) == []


def test_missing_descriptions_are_found() -> None:
    assert found(a_tool(description=" \n")) == [(LintRule.NO_DESCRIPTION, "get_weather", "")]
    bare = a_tool(parameters={"city": {"type": "string"}, "day": {"type": "string", "description": " "}})
    assert found(bare) == [
        (LintRule.NO_DESCRIPTION, "get_weather", "city"),
        (LintRule.NO_DESCRIPTION, "get_weather", "day"),
    ]


def test_a_parameter_is_described_by_the_type_that_it_refers_to() -> None:
    city: JsonSchema = {"enum": ["Oslo", "Rome"], "description": "A city with a station"}

    assert found(a_tool(parameters={"city": {"$ref": "#/$defs/City"}}, definitions={"City": city})) == []


def test_descriptions_that_are_too_long_are_found() -> None:
    fits, long = "x" * MAX_DESCRIPTION_CHARS, "x" * (MAX_DESCRIPTION_CHARS + 1)

    assert found(a_tool(description=fits, parameters={"city": {**TEXT, "description": fits}})) == []
    assert found(a_tool(description=long, parameters={"city": {**TEXT, "description": long}})) == [
        (LintRule.LONG_DESCRIPTION, "get_weather", ""),
        (LintRule.LONG_DESCRIPTION, "get_weather", "city"),
    ]


OPEN: list[JsonSchema] = [
    {},
    {"type": "array"},
    {"type": "array", "items": {}},
    {"type": "array", "prefixItems": [{"type": "string"}, {}]},
    {"type": "object"},
    {"type": "object", "additionalProperties": True},
    {"type": ["object", "null"], "additionalProperties": {"type": "array", "items": {}}},
    {"anyOf": [{"type": "null"}, {}]},
    {"allOf": [{}, {"description": "anything"}]},
    {"$ref": "#/$defs/Nothing"},
    {"$ref": "#/$defs/Loop"},
    {"$ref": "https://elsewhere/schema"},
]
DECLARED: list[JsonSchema] = [
    {"type": "integer"},
    {"enum": ["a", 1]},
    {"const": None},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "prefixItems": [{"type": "string"}]},
    {"type": "object", "properties": {"name": {}}},
    {"type": "object", "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "number"}},
    {"type": "object", "patternProperties": {"^x": {"type": "number"}}},
    {"anyOf": [{"type": "null"}, {"type": "string"}]},
    {"allOf": [{}, {"type": "string"}]},
    {"$ref": "#/$defs/Text"},
    {"$ref": "#/$defs/Deep"},
]
DEFINITIONS: JsonSchema = {
    "Loop": {"$ref": "#/$defs/Loop"},
    "Text": {"type": "string"},
    "Deep": {"type": "array", "items": {"$ref": "#/$defs/Deep"}},
}


@pytest.mark.parametrize("schema", OPEN, ids=str)
def test_types_that_are_left_open_are_found(schema: JsonSchema) -> None:
    assert found(taking(schema, definitions=DEFINITIONS)) == [(LintRule.UNTYPED_PARAMETER, "get_weather", "city")]
    assert found(a_tool(result={**schema, "$defs": DEFINITIONS})) == [(LintRule.UNTYPED_RESULT, "get_weather", "")]


@pytest.mark.parametrize("schema", DECLARED, ids=str)
def test_types_that_are_declared_are_left_alone(schema: JsonSchema) -> None:
    assert found(taking(schema, definitions=DEFINITIONS)) == []
    assert found(a_tool(result={**schema, "$defs": DEFINITIONS})) == []


def test_the_report_may_be_made_of_anything() -> None:
    assert found(taking({"type": "array", "items": {}}, role=ToolRole.FINAL_SYNTHESIS)) == []


@pytest.mark.parametrize(
    "schema",
    [
        within(levels=3),
        {"type": "array", "items": within(levels=3)},
        {"anyOf": [{"type": "null"}, within(levels=3)]},
        {"allOf": [within(levels=3)]},
        {"type": "object", "additionalProperties": within(levels=2)},
        {"type": "object", "patternProperties": {"^x": within(levels=2)}},
        REFERRING,
    ],
    ids=["objects", "list", "union", "all-of", "mapping", "pattern", "recursive"],
)
def test_objects_too_deep_inside_one_another_are_found(schema: JsonSchema) -> None:
    tool = taking(schema, definitions={"Node": NODE})

    assert found(tool) == [(LintRule.DEEP_NESTING, "get_weather", "city")]


@pytest.mark.parametrize(
    "schema",
    [
        within(levels=2),
        {"type": "array", "items": {"type": "array", "items": within(levels=2)}},
        {"type": "object", "additionalProperties": within(levels=1)},
        {"type": "object", "properties": {"name": True}},
    ],
    ids=["objects", "lists", "mapping", "anything"],
)
def test_two_levels_of_objects_are_left_alone(schema: JsonSchema) -> None:
    assert found(taking(schema)) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [within(levels=1), within(levels=1)]},
        {"oneOf": [{"$ref": "#/$defs/One"}, {"$ref": "#/$defs/One"}]},
        {"type": "array", "items": {"anyOf": [within(levels=1), within(levels=1)]}},
        {"type": "object", "properties": {"inner": {"anyOf": [within(levels=1), within(levels=1)]}}},
    ],
    ids=["any-of", "one-of", "list", "inside"],
)
def test_unions_of_objects_are_found(schema: JsonSchema) -> None:
    tool = taking(schema, definitions={"One": within(levels=1)})

    assert found(tool) == [(LintRule.OBJECT_UNION, "get_weather", "city")]


def test_a_union_of_an_object_and_something_else_is_left_alone() -> None:
    assert found(taking({"anyOf": [within(levels=1), {"type": "null"}, {"type": "string"}]})) == []


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.IDEMPOTENT_WRITE])
def test_a_write_that_does_not_say_what_it_changes_is_found(effect: Effect) -> None:
    for description in ("Give the weather of a city.", "The weather service.", "Sends."):
        tool = a_tool(effect=effect, description=description)
        assert found(tool) == [(LintRule.UNCLEAR_WRITE, "get_weather", "")]


@pytest.mark.parametrize(
    "description", ["Send a mail to a customer.", "Deletes the branch.", "The order is cancelled in the shop."]
)
def test_a_write_that_says_what_it_changes_is_left_alone(description: str) -> None:
    assert found(a_tool(effect=Effect.WRITE, description=description)) == []


def test_a_schema_that_fans_out_at_every_level_is_looked_at_once_a_level() -> None:
    definitions: JsonSchema = {
        f"L{level}": {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/L{level + 1}"}] * 50}}
        for level in range(30)
    }

    tool = taking({"$ref": "#/$defs/L0"}, definitions={**definitions, "L30": within(levels=3)})

    assert (LintRule.DEEP_NESTING, "get_weather", "city") in found(tool)
