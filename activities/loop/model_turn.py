"""The model's turn in a step: its calls with ids and arguments as data, or its answer, or why it is neither."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from pydantic import JsonValue

from activities.encodable import encodable
from activities.loop.observations import as_text
from activities.model.request import ModelAnswer, ModelCall
from harness.conversation import Said
from harness.errors import bounded, quoted
from harness.loop_calls import ToolCall
from harness.wire_size import MAX_DEPTH, depth_of

MAX_ANSWER_BYTES = 65_536
MAX_ARGUMENT_BYTES = 65_536
"""Of one call; so much travels in history and in the conversation."""
MAX_CALLS = 50
"""Calls that one turn may have; the model is told that further ones were not made."""
SAID_CHARS = 4000
"""Characters of a call's arguments that stay in the conversation."""
_TEXT_CHARS = 400
_MOST_EXACT = 2**53
"""Whole numbers below this are exact as floats."""
_BLANK = " \t\r\n\f\v\u00a0\u200b\u200c\u200d\u2060\ufeff"
_CUT = "\n[The answer was longer and is cut here.]"


@dataclass(frozen=True)
class ModelTurn:
    """What a model said in a step. Just one of `calls`, `answer` and `problem` is set."""

    text: str
    """All that it said beside its calls."""
    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    problem: str = ""


def turn_of(answer: ModelAnswer, step: int, *, must_answer: bool) -> ModelTurn:
    """Return the turn that an answer is.

    Args:
        answer: What the model gave back.
        step: Number of the step, for the ids of calls.
        must_answer: True when calls were not on offer.
    """
    text = encodable(answer.text).strip(_BLANK)
    if answer.calls and must_answer and not text:
        return ModelTurn(text, problem="calls are not possible any more; give the final answer as plain text")
    if answer.calls and not must_answer:
        return ModelTurn(_with_left_out(text, len(answer.calls)), calls=_calls(answer.calls, step))
    if not text:
        return ModelTurn(text, problem="the output is empty: call tools, or give the final answer as plain text")
    return ModelTurn(text, answer=_cut(text))


def said_of(call: ToolCall) -> Said:
    """Return a call as it stays in the conversation, with long texts in its arguments cut."""
    arguments = as_text(call.arguments)
    if len(arguments) > SAID_CHARS:
        arguments = as_text(_shortened(call.arguments))
    if len(arguments) > SAID_CHARS:
        arguments = as_text({"left_out": f"{len(as_text(call.arguments)):,} characters of arguments"})
    return Said(id=call.id, tool=call.tool, arguments=arguments)


def _shortened(value: JsonValue) -> JsonValue:
    """Cut long texts in a value, which is nested no deeper than arguments may be."""
    match value:
        case str():
            return bounded(value, _TEXT_CHARS)
        case list():
            return [_shortened(item) for item in value]
        case dict():
            return {key: _shortened(item) for key, item in value.items()}
        case _:
            return value


def _with_left_out(text: str, calls: int) -> str:
    left_out = calls - MAX_CALLS
    return f"{text}\n[{left_out} further calls were not made: at most {MAX_CALLS} a step]" if left_out > 0 else text


def _calls(calls: Sequence[ModelCall], step: int) -> tuple[ToolCall, ...]:
    return tuple(_call(call, f"{step}.{place}") for place, call in enumerate(calls[:MAX_CALLS], start=1))


def _call(call: ModelCall, identity: str) -> ToolCall:
    name = encodable(call.name)[:200]
    try:
        return ToolCall(id=identity, tool=name, arguments=_arguments(call.arguments))
    except (ValueError, RecursionError) as error:
        return ToolCall(id=identity, tool=name, problem=f"the arguments are no JSON object: {error}")


def _arguments(text: str) -> dict[str, JsonValue]:
    """Read arguments; a text without any stands for none, as some servers send it.

    Raises:
        ValueError: when they are no JSON object, or more than may travel.
    """
    size = len(text.encode(errors="replace"))
    if size > MAX_ARGUMENT_BYTES:
        raise ValueError(f"they have {size:,} bytes, the limit is {MAX_ARGUMENT_BYTES:,}; pass less")
    value = json.loads(text.strip() or "{}", object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_number)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object such as {{}}, not {quoted(text.strip())}")  # noqa: TRY004
    if depth_of(value, MAX_DEPTH) > MAX_DEPTH:
        raise ValueError(f"they are nested deeper than {MAX_DEPTH} levels")
    clean: dict[str, JsonValue] = json.loads(encodable(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    return clean


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {quoted(key)} is there twice")
        found[key] = value
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _cut(text: str) -> str:
    data = text.encode()
    if len(data) <= MAX_ANSWER_BYTES:
        return text
    return data[: MAX_ANSWER_BYTES - len(_CUT)].decode(errors="ignore") + _CUT


def _number(text: str) -> float:
    """Read a number: 1.0 is written for the whole number 1, too."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < _MOST_EXACT else number
