"""The table in the docstring of activities.model.step_reading: one ask for each of its rows (PITFALLS A7, A10, A11)."""

import json
from dataclasses import dataclass

import pytest

import activities.model.step_reading
from activities.model.request import ModelError
from tests.activities.model.asking import ask
from tests.activities.model.stepping import NO_TOOLS, call, calling, step_request
from tests.scripted_model import Reply, ScriptedServer, completion, error

ACTION = {"calls": [{"tool": "search", "arguments": '{"q":"cats"}'}], "answer": ""}
ANSWER = {"calls": [], "answer": "Nine."}
WHOLE = json.dumps(ACTION)
WRITTEN = '{"name": "search", "arguments": {"q": "cats"}}'
LENGTH = "length"
NO_FORMAT = [
    Reply(400, error("response_format of type 'json_schema' is not supported")),
    Reply(400, error("response_format of type 'json_object' is not supported")),
]


def said(text: str | None, finish: str = "stop") -> Reply:
    return Reply(body=completion(text, finish=finish))


REPLIES: dict[str, list[Reply]] = {
    "a call": [calling(call())],
    "several calls": [calling(call(), call(call_id="c2"))],
    "a call with text beside it": [calling(call(), text="Let me see.")],
    "a call under `function_call`": [Reply(body=completion(None, function_call=call()["function"]))],
    "a call without an id": [calling({"function": {"name": "search", "arguments": "{}"}})],
    "a call with an object for arguments": [calling(call(arguments={"q": "cats"}))],
    "a call that finished by stop": [calling(call(), finish="stop")],
    "a call that is written as text": [said(WRITTEN)],
    "a call of another name, written as text": [said(WRITTEN.replace("search", "Search"))],
    "prose": [said("Nine.")],
    "JSON that is no call": [said('{"lives": 9}')],
    "no call and no text": [calling()],
    "an entry that is no call": [calling(call(), 7)],
    "a call without a name": [calling(call(name=""))],
    "too many calls": [calling(*[call()] * 129)],
    "half a call, finished by length": [calling(call(arguments='{"q":"ca'), finish=LENGTH)],
    "a whole call, finished by length": [calling(call(), finish=LENGTH)],
    "refusal": [calling(call(), refusal="I will not.")],
    "context overflow": [Reply(400, error("too big: no tools fit", code="context_length_exceeded"))],
    "404, model": [Reply(404, error("The model 'tool-use-8b' does not exist", code="model_not_found"))],
    "401": [Reply(401, error("Incorrect API key provided"))],
    "500": [Reply(500, error("the tool parser has crashed"))],
    "an action with calls": [NO_TOOLS, said(WHOLE)],
    "an action with calls and an answer": [NO_TOOLS, said(json.dumps({**ACTION, "answer": "Nine."}))],
    "an action with an answer": [NO_TOOLS, said(json.dumps(ANSWER))],
    "a fenced action": [NO_TOOLS, said(f"Here it is:\n```json\n{WHOLE}\n```")],
    "an action with an object for arguments": [
        NO_TOOLS,
        said('{"calls": [{"tool": "search", "arguments": {"q": "cats"}}], "answer": null}'),
    ],
    "one call in place of an action": [NO_TOOLS, said(WRITTEN)],
    "prose in place of an action": [NO_TOOLS, said("Nine.")],
    "an action with neither": [NO_TOOLS, said('{"calls": [], "answer": " "}')],
    "another object": [NO_TOOLS, said('{"lives": 9}')],
    "a cut action": [NO_TOOLS, said(WHOLE[:-5])],
    "an action, finished by length": [NO_TOOLS, said(WHOLE, LENGTH)],
    "refuses tools and both kinds of JSON": [NO_TOOLS, *NO_FORMAT, said(WHOLE)],
}


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    label: str
    form: str
    meaning: str
    asked: int


def _rows() -> list[Row]:
    lines = [line for line in (activities.model.step_reading.__doc__ or "").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return [Row(label, form, meaning, int(asked)) for label, form, meaning, asked in cells]


ROWS = {row.label: row for row in _rows()}


def test_every_row_of_the_table_has_its_answer() -> None:
    assert [*ROWS] == [*REPLIES]


@pytest.mark.parametrize("label", REPLIES)
async def test_a_step_has_its_one_meaning(label: str) -> None:
    row = ROWS[label]

    async with ScriptedServer(*REPLIES[label]) as server:
        try:
            answer = await ask(server, step_request())
            meaning = "calls" if answer.calls else "answer"
        except ModelError as failure:
            meaning = failure.code.value

    assert (meaning, len(server.requests)) == (row.meaning, row.asked)
    assert ("tools" in server.requests[-1].body) == (row.form == "native")


@pytest.mark.parametrize("label", [row.label for row in ROWS.values() if row.meaning == "calls"])
async def test_calls_mean_the_same_in_every_form(label: str) -> None:
    async with ScriptedServer(*REPLIES[label]) as server:
        answer = await ask(server, step_request())

    assert answer.calls[0].name == "search"
    assert json.loads(answer.calls[0].arguments) in ({"q": "cats"}, {})
    assert answer.calls[0].id


async def test_an_answer_that_is_no_step_says_what_is_wrong_and_what_it_cost() -> None:
    async with ScriptedServer(calling(call(), 7)) as server:
        with pytest.raises(ModelError, match="tool call 2 of the answer names no function") as caught:
            await ask(server, step_request())

    assert caught.value.usage.output_tokens == 7


async def test_an_answer_that_says_nothing_is_told_so() -> None:
    async with ScriptedServer(calling()) as server:
        with pytest.raises(ModelError, match="the answer is empty: neither a call nor an answer"):
            await ask(server, step_request())
