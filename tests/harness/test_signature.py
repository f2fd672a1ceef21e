import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from harness.catalog import JsonSchema
from harness.closed_schema import closed
from harness.json_pointer import PointerError
from harness.json_schema import mismatch
from harness.schema_fit import schema_at
from harness.schema_keywords import TYPES
from harness.signature import Parameter, Signature
from tests.builders import NUMBER, TEXT, tool_spec


def test_knows_what_its_tool_takes() -> None:
    signature = Signature(tool_spec(parameters={"b": TEXT, "a": NUMBER}, optional=["b"]))

    assert signature.schemas == {"b": TEXT, "a": NUMBER}
    assert signature.required == ("a",)
    assert not signature.takes_extra


def test_extra_arguments_are_taken_where_the_tool_says_so() -> None:
    tool = tool_spec()
    extra = tool.model_copy(update={"parameters": {**tool.parameters, "additionalProperties": NUMBER}})

    assert Signature(extra).takes_extra
    assert Signature(extra).parameter("x").schema == NUMBER


def test_a_parameter_is_looked_at_once() -> None:
    signature = Signature(tool_spec(parameters={"a": NUMBER}))

    assert signature.parameter("a") is signature.parameter("a")


def test_a_parameter_reads_text_after_text() -> None:
    parameter = Parameter({"anyOf": [TEXT, NUMBER]})

    assert [parameter.read(text) for text in ("7", "seven", "[7]")] == [7, "seven", "[7]"]


def test_a_byte_order_mark_is_named() -> None:
    with pytest.raises(ValueError, match="is not JSON for number: Unexpected UTF-8 BOM"):
        Parameter(NUMBER).read("\ufeff7")


SCHEMAS: tuple[JsonSchema, ...] = (
    *({"type": name} for name in sorted(TYPES)),
    {"type": ["integer", "null"], "title": "X", "default": 1},
    {"type": "integer", "minimum": 1},
    {"type": "string", "maxLength": 2},
    {"type": "string", "pattern": "^a"},
    {"type": "string", "enum": ["abc"]},
    {"type": "integer", "const": 7},
    {"type": "string", "allOf": [{"maxLength": 2}]},
    {"anyOf": [TEXT, NUMBER]},
    {"type": "object", "required": ["a"]},
    {"$ref": "#/$defs/A", "$defs": {"A": {"type": "boolean"}}, "type": "string"},
    {},
)
VALUES: tuple[JsonValue, ...] = (None, True, False, 0, 7, 7.0, 7.5, "", "a", "abc", "<EMAIL_0123456789>", [], [1], {})


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_literal_misfits_just_where_its_value_does(schema: JsonSchema) -> None:
    parameter = Parameter(schema)

    assert [parameter.misfit(value) for value in VALUES] == [mismatch(value, closed(schema)) for value in VALUES]


PAIR: JsonSchema = {"type": "array", "prefixItems": [TEXT], "items": NUMBER}
GAMES: JsonSchema = {"type": "array", "items": {"type": "object", "properties": {"7": TEXT, "tags": {"items": TEXT}}}}


@pytest.mark.parametrize(
    ("result", "path", "shared"),
    [
        pytest.param(GAMES, "/12/tags/5", "/0/tags/0", id="items of any list"),
        pytest.param(GAMES, "/12/7", "/0/7", id="field that looks like an index"),
        pytest.param(GAMES, "/12/gone/7/5", "/0/gone/0/0", id="field that may be there"),
        pytest.param(PAIR, "/1", "/1", id="items told apart"),
        pytest.param({"type": "array", "maxItems": 5}, "/4", "/4", id="short list"),
        pytest.param({"type": "array", "items": False}, "/4", "/4", id="no items"),
        pytest.param(TEXT, "/4/5", "/4/5", id="no list"),
        pytest.param({}, "/9/9/9/9/9", "/0/0/0/0/9", id="deeper than is looked at"),
        pytest.param({}, "", "", id="whole"),
        pytest.param({}, "/", "/", id="field without a name"),
        pytest.param({}, "9/9", "9/9", id="malformed"),
    ],
)
def test_an_index_is_shared_where_it_makes_no_difference(result: JsonSchema, path: str, shared: str) -> None:
    assert Signature(tool_spec(result=result)).shared_path(path) == shared


_INNER: st.SearchStrategy[JsonSchema] = st.recursive(
    st.sampled_from([{}, TEXT, PAIR, GAMES, {"type": "array", "maxItems": 2}, {"$ref": "#/$defs/pair"}]),
    lambda inner: st.one_of(
        inner.map(lambda item: {"type": "array", "items": item}),
        inner.map(lambda each: {"type": "object", "additionalProperties": each}),
        st.lists(inner, min_size=1, max_size=2).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"allOf": parts}),
    ),
    max_leaves=5,
)


@given(_INNER, st.lists(st.sampled_from(["0", "1", "7", "tags"]), max_size=5))
def test_a_shared_path_leads_to_the_same_schema(inner: JsonSchema, parts: list[str]) -> None:
    result: JsonSchema = {**inner, "$defs": {"pair": PAIR}}
    path = "".join(f"/{part}" for part in parts)

    assert _part(result, path) == _part(result, Signature(tool_spec(result=result)).shared_path(path))


def _part(schema: JsonSchema, path: str) -> JsonSchema | None:
    try:
        return schema_at(schema, path)
    except PointerError:
        return None
