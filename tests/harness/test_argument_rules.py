"""Each test validates one plan: two reads `list_games` and `count`, and a report with the arguments under test."""

from collections.abc import Mapping

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter

from harness.catalog import JsonSchema, ToolRole
from harness.plan import ArgumentBinding, ArgumentValue, BindingType
from harness.validation import Rule, validate
from tests.builders import LIST, NUMBER, TEXT, TEXTS, catalog, literal, node, plan, result_of, results_of, tool_spec


class Game(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str
    price: float


GAMES: JsonSchema = TypeAdapter(list[Game]).json_schema()
PARAMETERS: dict[str, JsonSchema] = {
    "text": TEXT,
    "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "number": {"type": "integer", "minimum": 1},
    "items": LIST,
    "texts": TEXTS,
    "pair": {"type": "array", "prefixItems": [NUMBER, TEXT], "minItems": 2, "maxItems": 2},
    "anything": {},
    "few": {"type": "array", "items": False, "prefixItems": [NUMBER]},
}


def findings(arguments: Mapping[str, ArgumentValue]) -> list[tuple[Rule, str]]:
    tools = catalog(
        tool_spec("list_games", result=GAMES),
        tool_spec("count", result=NUMBER),
        tool_spec("report", parameters=PARAMETERS, optional=PARAMETERS, role=ToolRole.FINAL_SYNTHESIS),
    )
    report = node("report", "report", deps=["games", "count"], arguments=arguments)
    whole = plan(node("other", "count"), node("games", "list_games", deps=["other"]), node("count", "count"), report)
    found = validate(whole, tools, max_nodes=10, calls_left=10)
    assert {violation.node_id for violation in found} <= {"report"}
    return [(violation.rule, violation.message.removeprefix("node 'report': ")) for violation in found]


def value(kind: BindingType, text: str = "", sources: tuple[str, ...] = (), path: str = "") -> ArgumentValue:
    return ArgumentValue(type=kind, literal_value=text, source_node_ids=sources, path=path)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("text", literal("7")),
        ("maybe", literal("null")),
        ("number", literal("7")),
        ("number", result_of("count")),
        ("items", literal("[1, 2]")),
        ("items", result_of("games")),
        ("items", results_of("games", "count")),
        ("texts", results_of("games", path="/0/title")),
        ("texts", literal("[]")),
        ("text", result_of("games", "/3/title")),
        ("pair", literal('[1, "a"]')),
        ("anything", literal("free text")),
        ("anything", results_of("games", "count")),
    ],
)
def test_accepts_values_that_fit(name: str, bound: ArgumentValue) -> None:
    assert findings({name: bound}) == []


@pytest.mark.parametrize(
    ("name", "bound", "rule", "message"),
    [
        ("text", literal(" "), Rule.BAD_LITERAL, "literal argument value must not be blank; give a text, or leave"),
        ("anything", literal(""), Rule.BAD_LITERAL, "literal argument value must not be blank"),
        ("number", literal(""), Rule.BAD_LITERAL, "'' is not JSON for integer: "),
        ("number", literal("seven"), Rule.BAD_LITERAL, "'seven' is not JSON for integer: "),
        ("number", literal("0"), Rule.BAD_LITERAL, "expected at least 1, got 0"),
        ("number", literal('"7"'), Rule.BAD_LITERAL, "expected integer, got '7'"),
        ("texts", literal('["a", 1]'), Rule.BAD_LITERAL, "at '/1': expected string, got 1"),
        (
            "text",
            value(BindingType.LITERAL, "a", ("games",)),
            Rule.BAD_BINDING,
            "a LITERAL must not name source nodes; empty source_node_ids or use NODE_RESULT",
        ),
        ("text", value(BindingType.LITERAL, "a", (), "/x"), Rule.BAD_BINDING, "a LITERAL must not have a path"),
        (
            "items",
            value(BindingType.NODE_RESULT, "a", ("games",)),
            Rule.BAD_BINDING,
            "a NODE_RESULT must not carry a literal; empty literal_value or use LITERAL",
        ),
        (
            "items",
            value(BindingType.NODE_RESULT),
            Rule.BAD_SOURCE,
            "a NODE_RESULT needs a source node in source_node_ids",
        ),
        ("items", value(BindingType.NODE_RESULTS), Rule.BAD_SOURCE, "a NODE_RESULTS needs a source node"),
        (
            "items",
            value(BindingType.NODE_RESULT, "", ("games", "count")),
            Rule.BAD_BINDING,
            "a NODE_RESULT takes one source node, not 2; use NODE_RESULTS for a list",
        ),
        ("items", result_of(" "), Rule.BAD_SOURCE, "source node id must not be blank"),
        ("items", result_of("report"), Rule.BAD_SOURCE, "a node cannot take its own result"),
        (
            "items",
            result_of("other"),
            Rule.BAD_SOURCE,
            "argument source node must be listed in deps; add 'other' to them",
        ),
        ("items", result_of("gaems"), Rule.BAD_SOURCE, "source is the missing node 'gaems'; did you mean 'games'?"),
        ("items", result_of("zzz"), Rule.BAD_SOURCE, "source is the missing node 'zzz'; name a node of the plan"),
        ("items", result_of("games", "0"), Rule.BAD_PATH, "path '0' must be empty or start with '/'"),
        (
            "anything",
            result_of("games", "/0/prize"),
            Rule.BAD_PATH,
            "the result of 'games' has no '/0/prize': there is no 'prize' at '/0': its fields are 'title', 'price'",
        ),
        (
            "number",
            result_of("games"),
            Rule.RESULT_CANNOT_FIT,
            "the result of 'games' (tool 'list_games') cannot fit: array where integer is needed",
        ),
        (
            "number",
            result_of("games", "/0/title"),
            Rule.RESULT_CANNOT_FIT,
            "the result of 'games' (tool 'list_games') at '/0/title' cannot fit: string where integer is needed",
        ),
        (
            "number",
            results_of("count"),
            Rule.RESULT_CANNOT_FIT,
            "NODE_RESULTS gives a list of 1, which cannot fit: array where integer is needed",
        ),
        ("pair", results_of("count"), Rule.RESULT_CANNOT_FIT, "NODE_RESULTS gives a list of 1, which cannot fit: "),
        (
            "pair",
            results_of("count", "games"),
            Rule.RESULT_CANNOT_FIT,
            "the result of 'games' (tool 'list_games') cannot fit: array where string is needed",
        ),
        (
            "few",
            results_of("count", "games"),
            Rule.RESULT_CANNOT_FIT,
            "the result of 'games' has no place in the list: it may not have an item 1",
        ),
        (
            "anything",
            results_of("count", "count"),
            Rule.BAD_SOURCE,
            "a source is named once, 'count' stands there several times",
        ),
    ],
)
def test_refuses_a_value_and_says_what_would_be_right(
    name: str, bound: ArgumentValue, rule: Rule, message: str
) -> None:
    found = findings({name: bound})

    assert [each for each, _ in found] == [rule]
    assert found[0][1].startswith(f"argument {name!r}: {message}")


def test_reports_all_that_is_wrong_with_one_value() -> None:
    broken = value(BindingType.NODE_RESULTS, "text", ("", "report", "gone"), "x")

    assert [rule for rule, _ in findings({"items": broken})] == [
        Rule.BAD_BINDING,
        Rule.BAD_PATH,
        Rule.BAD_SOURCE,
        Rule.BAD_SOURCE,
        Rule.BAD_SOURCE,
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nubmer", "unknown argument 'nubmer'; did you mean 'number'? tool 'report' takes 'text', 'maybe', 'number'"),
        ("zzz", "unknown argument 'zzz'; tool 'report' takes 'text', 'maybe'"),
        (" ", "argument name must not be blank; tool 'report' takes 'text', 'maybe'"),
    ],
)
def test_refuses_an_argument_that_the_tool_does_not_have(name: str, message: str) -> None:
    [(rule, text)] = findings({name: literal("a")})

    assert rule is Rule.UNKNOWN_ARGUMENT
    assert text.startswith(message)


def test_refuses_an_argument_that_is_given_twice() -> None:
    twice = tuple(ArgumentBinding(name="text", value=literal(text)) for text in ("a", " "))
    tools = catalog(tool_spec("report", parameters={"text": TEXT}, role=ToolRole.FINAL_SYNTHESIS))
    report = node("report", "report").model_copy(update={"arguments": twice})

    [violation] = validate(plan(report), tools, max_nodes=10, calls_left=10)

    assert violation.rule is Rule.REPEATED_ARGUMENT
    assert violation.message == "node 'report': argument 'text' is given more than once; give it once"


def test_names_all_missing_arguments_with_what_they_take() -> None:
    tools = catalog(tool_spec("report", parameters={"a": TEXT, "b": NUMBER, "c": LIST}, role=ToolRole.FINAL_SYNTHESIS))
    report = node("report", "report", arguments={"b": literal("1")})

    [violation] = validate(plan(report), tools, max_nodes=10, calls_left=10)

    assert violation.rule is Rule.MISSING_ARGUMENT
    assert violation.message == (
        "node 'report': missing required arguments of tool 'report': 'a' (string), 'c' (array)"
    )


def test_takes_extra_arguments_where_the_tool_says_so() -> None:
    report = tool_spec("report", role=ToolRole.FINAL_SYNTHESIS)
    open_report = report.model_copy(update={"parameters": {**report.parameters, "additionalProperties": NUMBER}})
    call = plan(node("report", "report", arguments={"x": literal("1"), "y": literal("one")}))

    [violation] = validate(call, catalog(open_report), max_nodes=10, calls_left=10)

    assert violation.message.startswith("node 'report': argument 'y': 'one' is not JSON for number")


def test_judges_a_result_for_each_node_that_takes_it() -> None:
    tools = catalog(
        tool_spec("count", result=NUMBER),
        tool_spec("echo", parameters={"text": TEXT}),
        tool_spec("report", role=ToolRole.FINAL_SYNTHESIS),
    )
    echoes = [node(name, "echo", deps=["count"], arguments={"text": result_of("count")}) for name in ("a", "b")]
    whole = plan(node("count", "count"), *echoes, node("report", "report", deps=["a", "b"]))

    assert [(each.node_id, each.rule) for each in validate(whole, tools, max_nodes=10, calls_left=10)] == [
        ("a", Rule.RESULT_CANNOT_FIT),
        ("b", Rule.RESULT_CANNOT_FIT),
    ]


def test_judges_a_list_for_each_node_that_takes_it() -> None:
    tools = catalog(
        tool_spec("count", result=NUMBER),
        tool_spec("join", parameters={"texts": TEXTS}),
        tool_spec("report", role=ToolRole.FINAL_SYNTHESIS),
    )
    counts = [node(name, "count") for name in ("one", "two")]
    bound = {"texts": results_of("one", "two")}
    joins = [node(name, "join", deps=["one", "two"], arguments=bound) for name in ("a", "b")]
    whole = plan(*counts, *joins, node("report", "report", deps=["a", "b"]))

    found = validate(whole, tools, max_nodes=10, calls_left=10)

    assert [each.node_id for each in found] == ["a", "a", "b", "b"]
    assert {each.rule for each in found} == {Rule.RESULT_CANNOT_FIT}


def test_names_the_item_that_a_plan_takes() -> None:
    [(rule, message)] = findings({"number": result_of("games", "/3/title"), "text": result_of("games", "/4/title")})

    assert rule is Rule.RESULT_CANNOT_FIT
    assert "(tool 'list_games') at '/3/title' cannot fit: string where integer is needed" in message


def test_result_of_an_unknown_tool_is_not_judged() -> None:
    tools = catalog(tool_spec("report", parameters={"n": NUMBER}, role=ToolRole.FINAL_SYNTHESIS))
    whole = plan(node("a", "gone"), node("report", "report", deps=["a"], arguments={"n": result_of("a", "/x")}))

    assert [each.rule for each in validate(whole, tools, max_nodes=10, calls_left=10)] == [Rule.UNKNOWN_TOOL]


def test_source_that_is_missing_and_in_deps_is_reported_once() -> None:
    tools = catalog(tool_spec("report", parameters={"n": NUMBER}, role=ToolRole.FINAL_SYNTHESIS))
    whole = plan(node("report", "report", deps=["ghost"], arguments={"n": result_of("ghost")}))

    assert [each.rule for each in validate(whole, tools, max_nodes=10, calls_left=10)] == [Rule.BAD_DEPENDENCY]
