import json

import pytest
from pydantic import BaseModel, ConfigDict

from activities.answers import Parsed, parse_answer
from activities.model.request import ModelError
from harness.errors import ErrorCode
from harness.plan import Plan
from tests.builders import literal, node, plan

FENCE = "```"
PLAN = plan(node("report", "report", arguments={"text": literal("use\n```json\n{}\n```\nhere")}))
BODY = PLAN.model_dump_json()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{FENCE}json\n{BODY}\n{FENCE}", id="fenced"),
        pytest.param(f"{FENCE}JSON\r\n{BODY}\r\n{FENCE}\r\n", id="upper case and CRLF"),
        pytest.param(f"{FENCE}\n{BODY}\n{FENCE}", id="no tag"),
        pytest.param(f"{FENCE}json\n{BODY}", id="opening fence only"),
        pytest.param(f"Here is the plan:\n\n{FENCE}json\n{BODY}\n{FENCE}", id="prose before a fence"),
        pytest.param(f"{FENCE}json\n{BODY}\n{FENCE}\nTell me if it should change.", id="prose after a closed fence"),
        pytest.param(f"\ufeff{BODY}", id="byte order mark"),
        pytest.param(f"\ufeff{FENCE}json\n{BODY}\n{FENCE}", id="byte order mark and fence"),
        pytest.param(BODY, id="plain with a fence inside a string"),
        pytest.param(f"  \n{BODY}\n ", id="white space around"),
        pytest.param(f"The plan is: {BODY}", id="prose before plain JSON"),
        pytest.param(f"{FENCE}json\n{json.dumps(json.loads(BODY), indent=2)}\n{FENCE}", id="pretty printed"),
    ],
)
def test_accepts_one_json_value_whatever_wraps_it(text: str) -> None:
    assert parse_answer(text, Plan) == Parsed(PLAN, is_repaired=False)


def test_refuses_two_fenced_blocks_as_ambiguous() -> None:
    text = f"{FENCE}json\n{BODY}\n{FENCE}\nor\n{FENCE}json\n{BODY}\n{FENCE}"

    with pytest.raises(ModelError, match="ambiguous") as caught:
        parse_answer(text, Plan)

    assert caught.value.code is ErrorCode.INVALID_OUTPUT


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int
    name: str


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("I cannot do that.", "no JSON object"),
        ('{"count": 1, "name": "a"', "line 1 column"),
        ('{"count": "1", "name": "a"}', "count: Input should be a valid integer, not '1'"),
        ('{"count": 1.5, "name": "a"}', "count:"),
        ('{"count": true, "name": "a"}', "count: Input should be a valid integer, not True"),
        ('{"count": 1}', "name: Field required"),
        ('{"count": 1, "name": "a", "more": 2}', "more: Extra inputs are not permitted"),
        ('{"count": 1, "name": "a", "name": "b"}', "the key 'name' is there twice"),
        ('{"count":1,"name":"a","name":"b"}', "the key 'name' is there twice"),
        ('{"count": NaN, "name": "a"}', "NaN is no JSON number"),
        ('{"count": 1, "name": "a"} and more', "text after the JSON object"),
        (f'{FENCE}json\n{{"count": 1, "name": "a"}}\nand more\n{FENCE}', "text after the JSON object"),
        ("[1, 2]", "the whole answer"),
        ("[" * 100_000, "not valid JSON"),
        ('{"count": ' + "9" * 5000 + ', "name": "a"}', "not valid JSON"),
        ('{"count": 1, "name": "\\ud800"}', "Invalid JSON"),
    ],
)
def test_refuses_anything_else_and_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_answer(text, Row)

    assert caught.value.code is ErrorCode.INVALID_OUTPUT
    assert said in caught.value.message


def test_a_message_stays_short_however_long_the_answer_is() -> None:
    rows = {f"field{i}" * 100: i for i in range(1000)}

    with pytest.raises(ModelError) as caught:
        parse_answer(json.dumps(rows), Row)

    assert len(caught.value.message) <= 2100
    assert "and 992 more" in caught.value.message
