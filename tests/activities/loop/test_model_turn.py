import json

import pytest

from activities.loop.model_turn import MAX_ANSWER_BYTES, ModelTurn, said_of, turn_of
from activities.model.request import ModelAnswer, ModelCall
from harness.loop_calls import ToolCall
from tests.activities.loop.loop_stage import USAGE, calls, says


def read(arguments: str) -> ToolCall:
    """Return the only call of a turn with these arguments."""
    [call] = turn_of(calls(("read", arguments)), 3, must_answer=False).calls
    return call


def test_calls_get_the_step_and_their_place_as_ids() -> None:
    turn = turn_of(calls(("read", '{"q":"tea"}'), ("price", "{}")), 3, must_answer=False)

    assert turn == ModelTurn(
        "",
        calls=(ToolCall(id="3.1", tool="read", arguments={"q": "tea"}), ToolCall(id="3.2", tool="price", arguments={})),
    )


def test_a_text_without_calls_is_the_answer() -> None:
    assert turn_of(says("  Tea costs 4.20.\n"), 3, must_answer=False) == ModelTurn(
        "Tea costs 4.20.", answer="Tea costs 4.20."
    )


def test_the_text_beside_calls_is_kept_and_is_no_answer() -> None:
    answer = ModelAnswer("I look.", USAGE, calls=(ModelCall("x", "read", "{}"),))

    turn = turn_of(answer, 1, must_answer=False)

    assert (turn.text, turn.answer, len(turn.calls)) == ("I look.", None, 1)


def test_an_empty_output_is_a_problem() -> None:
    turn = turn_of(says(" "), 1, must_answer=False)

    assert (turn.answer, turn.problem) == (
        None,
        "the output is empty: call tools, or give the final answer as plain text",
    )


def test_calls_in_place_of_a_closing_answer_are_a_problem() -> None:
    turn = turn_of(calls(("read", "{}")), 9, must_answer=True)

    assert (turn.calls, turn.answer) == ((), None)
    assert turn.problem == "calls are not possible any more; give the final answer as plain text"


def test_the_text_of_a_closing_turn_is_the_answer_whatever_it_calls() -> None:
    answer = ModelAnswer("Tea is dear.", USAGE, calls=(ModelCall("x", "read", "{}"),))

    assert turn_of(answer, 9, must_answer=True) == ModelTurn("Tea is dear.", answer="Tea is dear.")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"q": ', "the arguments are no JSON object: Expecting value"),
        ("[1]", "the arguments are no JSON object: expected an object such as {}, not '[1]'"),
        ('"tea"', "the arguments are no JSON object: expected an object such as {}"),
        ('{"q": 1, "q": 2}', "the arguments are no JSON object: the key 'q' is there twice"),
        ('{"a": {"q": 1, "q": 2}}', "the arguments are no JSON object: the key 'q' is there twice"),
        ('{"q": NaN}', "the arguments are no JSON object: NaN is no JSON number"),
        ('{"q": 1e999}', "the arguments are no JSON object: Out of range float values"),
        ('{"q": ' + "[" * 200 + "]" * 200 + "}", "the arguments are no JSON object: they are nested deeper than 100"),
        ("[" * 100_000, "the arguments are no JSON object: they have 100,000 bytes, the limit is 65,536"),
        ("[" * 60_000, "the arguments are no JSON object: maximum recursion depth"),
    ],
    ids=["cut", "list", "text", "twice", "twice inside", "NaN", "infinite", "deep", "large", "very deep"],
)
def test_arguments_that_cannot_be_read_are_a_problem_of_their_call(arguments: str, problem: str) -> None:
    call = read(arguments)

    assert call.arguments == {}
    assert call.problem.startswith(problem)


def test_no_arguments_at_all_stand_for_an_empty_object() -> None:
    assert (read("").arguments, read(" ").problem) == ({}, "")


def test_lone_surrogates_are_replaced_everywhere() -> None:
    assert read('{"q": "\\ud800"}').arguments == {"q": "?"}
    assert turn_of(says("tea \ud800"), 1, must_answer=False).answer == "tea ?"


def test_a_long_answer_is_cut_and_says_so() -> None:
    answer = turn_of(says("价" * 40_000), 1, must_answer=False).answer

    assert answer is not None
    assert len(answer.encode()) <= MAX_ANSWER_BYTES
    assert answer.endswith("价\n[The answer was longer and is cut here.]")


def test_more_than_fifty_calls_are_left_out_and_the_model_is_told() -> None:
    turn = turn_of(calls(*[("read", "{}")] * 80), 1, must_answer=False)

    assert len(turn.calls) == 50
    assert turn.text == "\n[30 further calls were not made: at most 50 a step]"


def test_a_call_stays_in_the_conversation_as_it_was_made() -> None:
    assert said_of(ToolCall(id="1.1", tool="read", arguments={"q": "tee", "n": [1, True]})).arguments == (
        '{"q":"tee","n":[1,true]}'
    )


def test_long_texts_in_arguments_are_cut_in_the_conversation() -> None:
    said = said_of(ToolCall(id="1.1", tool="write", arguments={"to": "a", "lines": ["x" * 9000, 7]}))

    shown = json.loads(said.arguments)
    assert (shown["to"], shown["lines"][1]) == ("a", 7)
    assert "characters cut" in shown["lines"][0]
    assert len(said.arguments) < 600


def test_arguments_with_very_many_parts_are_left_out_of_the_conversation() -> None:
    said = said_of(ToolCall(id="1.1", tool="write", arguments={"numbers": list(range(2000))}))

    assert json.loads(said.arguments) == {"left_out": "8,903 characters of arguments"}
