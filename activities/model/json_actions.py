"""JSON actions: tool calls for a server that knows none. What it answers is read back as if it had called tools."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, field_validator

from activities.answers import parse_answer
from activities.model.native_calls import MOST_CALLS
from activities.model.request import Message, ModelCall, ModelError, ModelRequest, ToolOffer
from activities.model.said import Said, call_of
from activities.model.wire_names import made_id
from activities.model.written_call import written_call
from activities.prompts import MAX_CATALOG_CHARS, fenced
from harness.errors import ErrorCode

ACTION_RULES = """You act by writing one JSON object and nothing else: {"calls": [...], "answer": "..."}.
- To use tools: one {"tool", "arguments"} entry in calls for each call, and an empty answer. tool is the exact name of a
  tool below; arguments is a JSON object as text, of the tool's parameters. Several calls run at the same time.
- When you are done: an empty list of calls, and the whole answer as text in answer.
What came of calls is in the next message. The tools, one a line:"""

CLOSING_RULES = """Write one JSON object and nothing else: {"calls": [], "answer": "..."}. You may call no tool any
more; the whole answer goes in as text."""
_FIELD = re.compile(r"""[{,]\s*["']?(?:calls|answer)["']?\s*:""")
"""Tells an action from prose with braces."""


class ActionCall(BaseModel):
    """One call as a model writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    arguments: str = "{}"
    """JSON text: strict schemas know no free-form object."""

    @field_validator("arguments", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """Take the object itself, too, which models write that no schema holds to text."""
        if value is None or value == "":
            return "{}"
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


class StepAction(BaseModel):
    """A step as a model writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: tuple[ActionCall, ...] = ()
    answer: str = ""
    """Said beside calls, it is not the answer yet."""

    @field_validator("answer", mode="before")
    @classmethod
    def _no_answer(cls, value: object) -> object:
        return "" if value is None else value


def as_actions(request: ModelRequest) -> ModelRequest:
    """Return a request as a server gets it that knows neither tools nor messages about them."""
    steps = [enumerate(message.calls, start=1) for message in request.messages]
    names = {call.id: f"call {place}, {call.name}" for calls in steps for place, call in calls}
    plain_messages = (_plain(message, names) for message in request.messages)
    first, *others = _merged([Message("user", request.user), *plain_messages])
    plain = replace(request, user=first.text, messages=tuple(others))
    if not request.tools:
        return plain
    if request.must_answer:
        return replace(plain, system=f"{request.system}\n\n{CLOSING_RULES}".lstrip(), answer=StepAction)
    tools = fenced("tools", "\n".join(map(_line, request.tools)), limit=MAX_CATALOG_CHARS)
    return replace(plain, system=f"{request.system}\n\n{ACTION_RULES}\n{tools}".lstrip(), answer=StepAction)


def read_action(text: str, request: ModelRequest) -> Said:
    """Return what an answer to JSON actions says. Calls win over an answer beside them; prose alone is the answer.

    Prose may have braces in it, such as those of code; what has a field of an action is meant as one.

    Raises:
        ModelError: INVALID_OUTPUT when it is meant as an action and is none.
    """
    if call := written_call(text, request):
        return Said("", (call,))
    if not text.lstrip().startswith("{") and not _FIELD.search(text):
        return Said(text)
    action = parse_answer(text, StepAction).value
    calls = tuple(_call(place, call, request) for place, call in enumerate(action.calls, start=1))
    if len(calls) > MOST_CALLS:
        raise ModelError(ErrorCode.INVALID_OUTPUT, f"the answer has {len(calls)} calls; at most {MOST_CALLS} are read")
    if any(not call.name for call in calls):
        raise ModelError(ErrorCode.INVALID_OUTPUT, "a call of the answer names no tool")
    return Said(action.answer, calls)


def _call(place: int, call: ActionCall, request: ModelRequest) -> ModelCall:
    call_id = made_id([str(len(request.messages)), str(place), call.tool, call.arguments])
    return call_of(call_id, call.tool, call.arguments)


def _line(tool: ToolOffer) -> str:
    line = {"tool": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _plain(message: Message, names: Mapping[str, str]) -> Message:
    """Return a message without calls: these are in it as the model would have written them, which knows no ids."""
    match message.role:
        case "tool":
            name = names.get(message.call_id, "an earlier call")
            return Message("user", f"What came of {name}:\n{message.text}")
        case "assistant" if message.calls:
            calls = [{"tool": call.name, "arguments": call.arguments} for call in message.calls]
            written = json.dumps({"calls": calls, "answer": message.text}, ensure_ascii=False)
            return Message("assistant", written)
        case _:
            return message


def _merged(messages: Iterable[Message]) -> list[Message]:
    """Join neighbours of one role: templates of many models take turns only."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].role == message.role:
            turns[-1] = replace(message, text=f"{turns[-1].text}\n\n{message.text}".lstrip())
        else:
            turns.append(message)
    return turns
