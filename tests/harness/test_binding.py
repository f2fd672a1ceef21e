import hashlib
import json
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, TypeAdapter

from harness.artifact import Artifact, StoredArgument
from harness.binding import checked_arguments, materialise, parameter_schema, read_literal, reuse_key, reuse_keys
from harness.catalog import JsonSchema, ToolSpec
from harness.errors import ErrorCode, ToolError
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, PlanNode
from harness.signature import Signature
from tests.builders import LIST, NUMBER, TEXT, literal, node, result_of, results_of, tool_spec


def schema_of(kind: Any) -> JsonSchema:
    return TypeAdapter(kind).json_schema()


@pytest.mark.parametrize(
    ("text", "schema", "expected"),
    [
        ("42", TEXT, "42"),
        ('"quoted"', TEXT, '"quoted"'),
        ("null", schema_of(str | None), "null"),
        ("EUR", schema_of(Literal["EUR", "USD"]), "EUR"),
        ("42", NUMBER, 42),
        ("2.5", NUMBER, 2.5),
        ("true", schema_of(bool), True),
        ('["a", "b"]', LIST, ["a", "b"]),
        ("null", schema_of(list[int] | None), None),
        ("24.99", schema_of(Decimal), 24.99),
        ('"24.99"', schema_of(Decimal), "24.99"),
        ("5", schema_of(str | int), 5),
        ("5", schema_of(str | list[int]), "5"),
        ("five", schema_of(str | int), "five"),
        ("calm games", {}, "calm games"),
        ('{"a": [1]}', {}, {"a": [1]}),
    ],
)
def test_literal_is_text_for_text_parameters_and_json_for_others(
    text: str, schema: JsonSchema, expected: JsonValue
) -> None:
    assert read_literal(text, schema) == expected


@pytest.mark.parametrize("text", ["", "five", "{'a': 1}", "NaN", "-Infinity", "1e999", "[" * 100_000, "1" * 10_000])
def test_literal_that_is_no_json_is_refused_in_short(text: str) -> None:
    with pytest.raises(ValueError, match="is not JSON for number: ") as raised:
        read_literal(text, NUMBER)

    assert len(str(raised.value)) < 400


def test_materialises_literals_results_and_lists_of_results() -> None:
    tool = tool_spec(parameters={"text": TEXT, "limit": NUMBER, "game": {}, "prices": LIST})
    call = node(
        "call",
        deps=["games", "b", "a"],
        arguments={
            "text": literal("7"),
            "limit": literal("7"),
            "game": result_of("games", "/items/1/na~1me"),
            "prices": results_of("b", "a"),
        },
    )
    results: dict[str, JsonValue] = {"games": {"items": [{}, {"na/me": "Hades"}]}, "a": 1, "b": 2}

    assert materialise(call, tool, results).values == {"text": "7", "limit": 7, "game": "Hades", "prices": [2, 1]}


def test_a_signature_changes_nothing_but_the_work() -> None:
    tool = tool_spec(parameters={"text": TEXT, "limit": NUMBER})
    call, signature = node("call", arguments={"text": literal("7"), "limit": literal("7")}), Signature(tool)

    first, again = (checked_arguments(call, tool, {}, limit=100, signature=signature) for _ in range(2))

    assert first == again == checked_arguments(call, tool, {}, limit=100)


def test_a_stored_result_is_passed_on_as_a_reference() -> None:
    stored = Artifact(digest="a" * 64, size=9, preview="[1")
    call = node("call", arguments={"game": result_of("big", "/0"), "prices": results_of("small", "big")})
    tool = tool_spec(parameters={"game": {}, "prices": LIST})

    arguments = checked_arguments(call, tool, {"small": 1, "big": stored}, limit=100)

    reference = Artifact(digest="a" * 64, size=9)
    assert arguments.values == {"game": None, "prices": [1, None]}
    assert arguments.stored == (
        StoredArgument(name="game", artifact=reference, path="/0"),
        StoredArgument(name="prices", index=1, artifact=reference),
    )


def test_list_of_results_takes_the_path_of_each() -> None:
    call = node("call", arguments={"prices": results_of("a", "b", path="/price")})

    arguments = materialise(call, tool_spec(parameters={"prices": LIST}), {"a": {"price": 1}, "b": {"price": 2}}).values

    assert arguments == {"prices": [1, 2]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (literal("many"), "node 'call': argument 'limit' of 'read': 'many' is not JSON for number: "),
        (
            result_of("gone"),
            "node 'call': argument 'limit' of 'read': there is no result of node 'gone'; there are results of 'games'",
        ),
        (
            result_of("games", "/0/price"),
            "node 'call': argument 'limit' of 'read': in the result of node 'games': no field 'price'",
        ),
        (
            result_of("games", "0"),
            "node 'call': argument 'limit' of 'read': in the result of node 'games': path '0' must be empty or start",
        ),
        (
            ArgumentValue(type=BindingType.NODE_RESULT, literal_value="", source_node_ids=(), path=""),
            "node 'call': argument 'limit' of 'read': NODE_RESULT takes exactly one source node, it has 0",
        ),
    ],
    ids=["literal", "no result", "no such part", "malformed path", "no source"],
)
def test_argument_that_cannot_be_had_is_an_invalid_argument(value: ArgumentValue, message: str) -> None:
    call = node("call", arguments={"limit": value})

    with pytest.raises(ToolError) as raised:
        materialise(call, tool_spec(parameters={"limit": NUMBER}), {"games": [{"title": "Hades"}]})

    assert raised.value.code is ErrorCode.INVALID_ARGUMENT
    assert raised.value.message.startswith(message)


def test_parameter_schema_keeps_the_definitions_that_it_refers_to() -> None:
    tool = tool_spec(parameters={"kind": {"$ref": "#/$defs/Kind"}})
    tool = tool.model_copy(update={"parameters": {**tool.parameters, "$defs": {"Kind": TEXT}}})

    assert materialise(node("a", arguments={"kind": literal("7")}), tool, {}).values == {"kind": "7"}


def test_extra_arguments_have_the_schema_that_the_tool_gives_for_them() -> None:
    tool = tool_spec(parameters={"a": NUMBER})
    closed, texts, anything = (
        tool.model_copy(update={"parameters": {**tool.parameters, "additionalProperties": extra}})
        for extra in (False, TEXT, True)
    )

    assert parameter_schema(texts, "a") == NUMBER
    assert [parameter_schema(each, "b") for each in (closed, texts, anything)] == [{}, TEXT, {}]


def test_reuse_key_ignores_the_order_of_names_only() -> None:
    tool = tool_spec("get_prices", version="2")
    key = reuse_key(tool, {"a": 1, "b": {"x": 1, "y": [1, 2]}})

    assert key == reuse_key(tool, {"b": {"y": [1, 2], "x": 1}, "a": 1})
    assert len(key) == 64
    others: list[tuple[ToolSpec, dict[str, JsonValue]]] = [
        (tool, {"a": 1, "b": {"x": 1, "y": [2, 1]}}),
        (tool, {"a": "1", "b": {"x": 1, "y": [1, 2]}}),
        (tool, {"a": True, "b": {"x": 1, "y": [1, 2]}}),
        (tool_spec("get_games", version="2"), {"a": 1, "b": {"x": 1, "y": [1, 2]}}),
        (tool_spec("get_prices", version="3"), {"a": 1, "b": {"x": 1, "y": [1, 2]}}),
    ]
    assert key not in {reuse_key(other_tool, arguments) for other_tool, arguments in others}


def test_reuse_key_of_a_stored_argument_names_what_is_stored() -> None:
    stored = [StoredArgument(name="a", artifact=Artifact(digest=digit * 64, size=9)) for digit in "01"]

    keys = {reuse_key(tool_spec(), {"a": None}, each) for each in ((), stored[:1], stored[1:])}

    assert len(keys) == 3


def test_reuse_key_takes_any_text() -> None:
    assert reuse_key(tool_spec(), {"a": "\ud800 \x00 ü"}) == reuse_key(tool_spec(), {"a": "\ud800 \x00 ü"})


_VALUES: st.SearchStrategy[Any] = st.builds(
    ArgumentValue,
    type=st.sampled_from(BindingType),
    literal_value=st.text(max_size=5),
    source_node_ids=st.lists(st.sampled_from(["a", "b", ""]), max_size=2).map(tuple),
    path=st.sampled_from(["", "/0", "/x", "x", "/~"]),
)


@given(st.lists(st.builds(ArgumentBinding, name=st.sampled_from(["n", "t", "?"]), value=_VALUES), max_size=3))
def test_materialise_raises_nothing_but_tool_errors(bindings: list[ArgumentBinding]) -> None:
    call = PlanNode(id="call", tool="read", arguments=tuple(bindings), deps=())
    try:
        arguments = materialise(call, tool_spec(parameters={"n": NUMBER, "t": TEXT}), {"a": [1]}).values
    except ToolError:
        return

    assert set(arguments) == {binding.name for binding in bindings}


def test_arguments_within_the_limit_come_with_their_size() -> None:
    taking = tool_spec("take", parameters={"parts": {"type": "array", "items": {}}})
    call = node("n", "take", arguments={"parts": results_of("a", "b")})

    assert checked_arguments(call, taking, {"a": "x", "b": 2}, limit=17).values == {"parts": ["x", 2]}


def test_arguments_over_the_limit_are_refused_before_they_are_put_together() -> None:
    taking = tool_spec("take", parameters={"parts": {"type": "array", "items": {}}})
    call = node("n", "take", arguments={"parts": results_of("a", "b", "c")})

    with pytest.raises(ToolError, match="more than 200 bytes") as refusal:
        checked_arguments(call, taking, dict.fromkeys("abc", "x" * 90), limit=200)
    assert refusal.value.code is ErrorCode.PAYLOAD_TOO_LARGE


def test_a_long_literal_counts_as_well() -> None:
    taking = tool_spec("take", parameters={"text": TEXT})

    with pytest.raises(ToolError, match="more than 50 bytes"):
        checked_arguments(node("n", "take", arguments={"text": literal("x" * 60)}), taking, {}, limit=50)


def test_a_path_that_does_not_exist_is_named_whatever_the_limit() -> None:
    taking = tool_spec("take", parameters={"text": TEXT})

    with pytest.raises(ToolError, match="ghost"):
        checked_arguments(node("n", "take", arguments={"text": result_of("a", "/ghost")}), taking, {"a": {}}, limit=50)


@pytest.mark.parametrize("text", ["\udcad", '["\\udcad"]', "[" * 150 + "]" * 150], ids=["text", "escaped", "deep"])
def test_a_literal_that_no_message_can_carry_is_refused(text: str) -> None:
    taking = tool_spec("take", parameters={"any": {"type": "array"}})

    with pytest.raises(ToolError):
        materialise(node("n", "take", arguments={"any": literal(text)}), taking, {})


LONG = {"text": "x" * 2000, "price": 1.5}


def keys(results: dict[str, Any], *, path: str = "") -> tuple[str, ...]:
    """Return the keys of one call that takes one result and a list of two."""
    taking = tool_spec(parameters={"one": {}, "all": LIST})
    call = node("n", arguments={"one": result_of("a", path), "all": results_of("b", "a")})
    return reuse_keys(taking, materialise(call, taking, results))


def stored(value: JsonValue) -> Artifact:
    """Return where the store would keep a value."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Artifact(digest=hashlib.sha256(data).hexdigest(), size=len(data))


def test_a_call_has_the_same_key_whether_its_sources_are_stored_or_not() -> None:
    inline = keys({"a": LONG, "b": 7})

    assert keys({"a": stored(LONG), "b": 7}) == inline[:1]
    assert keys({"a": stored({**LONG, "price": 2.5}), "b": 7}) != inline[:1]
    assert keys({"a": stored(LONG), "b": 8}) != inline[:1]


def test_so_has_a_call_that_takes_a_part_of_a_source() -> None:
    inline = keys({"a": LONG, "b": 7}, path="/price")

    assert keys({"a": stored(LONG), "b": 7}, path="/price") == inline[:1]
    assert keys({"a": stored(LONG), "b": 7}, path="/text") != inline[:1]


def test_a_call_is_also_known_by_its_values() -> None:
    taking = tool_spec(parameters={"one": {}, "all": LIST})

    assert keys({"a": LONG, "b": 7})[1] == reuse_key(taking, {"one": LONG, "all": [7, LONG]})


def test_a_call_of_small_values_has_one_key() -> None:
    taking = tool_spec(parameters={"one": {}, "all": LIST})

    assert keys({"a": "small", "b": 7}) == (reuse_key(taking, {"one": "small", "all": [7, "small"]}),)
