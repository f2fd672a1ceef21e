import json

import pytest

from activities.model.written_call import written_call
from tests.activities.model.stepping import step_request

CATS = '{"name": "search", "arguments": {"q": "cats"}}'


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        pytest.param(CATS, "search", {"q": "cats"}, id="alone"),
        pytest.param(f"\n {CATS}\n", "search", {"q": "cats"}, id="white space"),
        pytest.param('{"tool": "search", "parameters": {}}', "search", {}, id="other words"),
        pytest.param('{"type": "function", "name": "search", "parameters": {}}', "search", {}, id="with its type"),
        pytest.param(f"```json\n{CATS}\n```", "search", {"q": "cats"}, id="fenced"),
        pytest.param(f"```\r\n{CATS}\r\n```", "search", {"q": "cats"}, id="fenced without a name"),
        pytest.param(f"<tool_call>\n{CATS}\n</tool_call>", "search", {"q": "cats"}, id="Hermes"),
        pytest.param('{"name": "world_clock", "arguments": {}}', "world.clock", {}, id="the name as it was sent"),
        pytest.param('{"name": "world.clock", "arguments": {}}', "world.clock", {}, id="the name as it is here"),
    ],
)
def test_a_call_of_an_offered_tool_alone_in_a_text_is_a_call(text: str, name: str, arguments: object) -> None:
    call = written_call(text, step_request())

    assert call is not None
    assert (call.name, json.loads(call.arguments)) == (name, arguments)
    assert len(call.id) == 9


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"I would call {CATS}", id="after prose"),
        pytest.param(f"{CATS} and then answer", id="before prose"),
        pytest.param(f"{CATS}\n{CATS}", id="two"),
        pytest.param(f"[{CATS}]", id="a list"),
        pytest.param(CATS.replace("search", "Search"), id="another name"),
        pytest.param(CATS.replace("search", "search "), id="a name with a space"),
        pytest.param('{"name": "search"}', id="no arguments"),
        pytest.param('{"name": "search", "arguments": "cats"}', id="arguments that are text"),
        pytest.param('{"name": 7, "arguments": {}}', id="a name that is a number"),
        pytest.param('{"name": "search", "arguments": {}, "price": 5}', id="data with a name"),
        pytest.param(CATS[:-1], id="cut"),
        pytest.param('{"name": "search", "arguments": ' + "[" * 50_000 + "]" * 50_000 + "}", id="deep"),
        pytest.param("Nine.", id="prose"),
        pytest.param("", id="nothing"),
    ],
)
def test_anything_else_is_no_call(text: str) -> None:
    assert written_call(text, step_request()) is None
