import contextlib
import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.answers import parse_answer
from activities.json_syntax import MAX_DEPTH, SyntaxRepairError, repair
from activities.model.request import ModelError
from harness.errors import ErrorCode
from harness.plan import Plan
from tests.builders import literal, node, plan

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
).filter(lambda value: isinstance(value, dict | list))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": [1, 2,],}', {"a": [1, 2]}, id="trailing commas"),
        pytest.param("{'a': 'it\\'s', 'b': 'say \"x\"'}", {"a": "it's", "b": 'say "x"'}, id="single quotes"),
        pytest.param('{"a": 1, // one\n"b": /* two */ 2 # three\n}', {"a": 1, "b": 2}, id="comments"),
        pytest.param('{a: 1, b_c: "x"}', {"a": 1, "b_c": "x"}, id="unquoted keys"),
        pytest.param('{"a": "x\ny",}', {"a": "x\ny"}, id="line break in a string"),
        pytest.param("{'a': True, 'b': None}", {"a": True, "b": None}, id="Python's words"),
        pytest.param("[{'a': []},]", [{"a": []}], id="a list"),
    ],
)
def test_repairs_syntax(text: str, value: object) -> None:
    assert repair(text, 0).value == value


@pytest.mark.parametrize(
    "content",
    [
        "```json\n{}\n```",
        "\n",
        "c:\\dir\\",
        "http://x/y # z /* w */ // v",
        "{a: 1, b: [2}",
        'say "hi", ok: yes',
        "it's",
        "whippletree string 0",
        "  ",
        "é😀",
        "True",
    ],
)
def test_never_touches_the_content_of_a_string(content: str) -> None:
    assert repair(f'{{"a": {json.dumps(content)}, "b": "c",}}', 0).value == {"a": content, "b": "c"}


@given(JSON)
def test_what_is_json_but_for_a_comma_at_its_end_keeps_every_value(value: dict[str, object] | list[object]) -> None:
    text = json.dumps(value)
    comma = "," if value else ""

    assert repair(f"{text[:-1]}{comma}{text[-1]}", 0).value == value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1', id="object"),
        pytest.param('{"a": [1, 2', id="list"),
        pytest.param('{"a": "x', id="string"),
        pytest.param("{'a': 'x", id="single-quoted string"),
        pytest.param('{"a": 1 /* so', id="comment"),
        pytest.param('{"a": {"b": 1}', id="outer object"),
        pytest.param('{"a": "x\\"}', id="string with an escaped quote"),
    ],
)
def test_never_completes_what_is_cut(text: str) -> None:
    with pytest.raises(SyntaxRepairError, match="it is cut"):
        repair(text, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": , "b": 1}', "value is empty"),
        ('{"a": }', "value is empty"),
        ('{"a" 1}', "Missing ':'"),
        ('{"a": 1, "a": 2,}', "the key 'a' is there twice"),
        ('{"a": 1, a: 2,}', "the key 'a' is there twice"),
        ("{a: 1, a: 2}", "wrong in more than its syntax"),
        ('{"a": hello, "b": 1}', "'hello' is in no quotes"),
        ('{"a": NaN,}', "'NaN' is in no quotes"),
        ('{"a": [1}', "not its own"),
        ('{"a": 1/3}', "'/' has no place"),
        ('{"a": (1,2),}', "wrong in more"),
        ('{"a": 1 junk,}', ""),
        ('{"a": "say "hi" now"}', ""),
        ('{"a": "x" "y"}', ""),
        ('{"a": "\\x"}', "a string in it is not valid"),
        ("[" * (MAX_DEPTH + 1), "nested too deeply"),
    ],
)
def test_refuses_what_it_would_have_to_guess(text: str, said: str) -> None:
    with pytest.raises(SyntaxRepairError, match=None) as caught:
        repair(text, 0)

    assert said in str(caught.value)


def test_takes_little_time_whatever_the_text_is() -> None:
    started = perf_counter()

    for text in ("{" * 90_000 + "'", "{'" + "\\x" * 90_000, "{" + "/*" * 90_000, "{a:[" + "1," * 90_000 + "]}"):
        with contextlib.suppress(SyntaxRepairError):
            repair(text, 0)

    assert perf_counter() - started < 5


PLAN = plan(node("report", "report", arguments={"text": literal("use\n```json\n{'a': 1,}\n```\nhere")}))
BODY = PLAN.model_dump_json()
BAD = BODY.removesuffix("]}") + ",]}"


@pytest.mark.parametrize("text", [BAD, f"Here:\n```json\n{BAD}\n```\nDone.", f"The plan is: {BAD}", f"// mine\n{BAD}"])
def test_a_repaired_answer_is_validated_and_says_that_it_was_repaired(text: str) -> None:
    parsed = parse_answer(text, Plan)

    assert (parsed.value, parsed.is_repaired) == (PLAN, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{nodes: [{id: 'a'}]}", "nodes.0.tool: Field required"),
        ("{nodes: [], more: 1}", "more: Extra inputs are not permitted"),
        (BAD[:-4], "it is cut: not every bracket and string in it is closed"),
        (f"{BAD} and more", "text after the JSON object"),
    ],
)
def test_repair_makes_no_other_rule_weaker(text: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_answer(text, Plan)

    assert caught.value.code is ErrorCode.INVALID_OUTPUT
    assert said in caught.value.message


def test_no_cut_of_a_plan_is_ever_taken_for_a_plan() -> None:
    for end in range(len(BODY)):
        with pytest.raises(ModelError):
            parse_answer(BODY[:end], Plan)
