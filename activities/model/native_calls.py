"""Native calls: the tool calls of a chat answer, whatever a server made of them."""

import json
import re
from collections.abc import Mapping

from pydantic import BaseModel

from activities.model.request import ModelCall, ModelError, ModelRequest
from activities.model.said import call_of
from activities.model.wire_names import WireNames, made_id
from harness.errors import ErrorCode

MOST_CALLS = 128
"""Calls of one answer; OpenAI's own limit of offered tools. A harness that makes fewer at a time refuses the others."""
_ID = re.compile(r"[\x20-\x7e]{1,100}")
"""An id that is kept; another one is replaced."""


def native_calls(message: object, request: ModelRequest) -> tuple[ModelCall, ...]:
    """Return the calls of a message in their order, with ids that differ; none when no tools were offered.

    Raises:
        ModelError: INVALID_OUTPUT when an entry is no call, or there are too many.
    """
    entries = _entries(message) if request.tools else []
    if len(entries) > MOST_CALLS:
        raise _invalid(f"the answer has {len(entries)} tool calls; at most {MOST_CALLS} are read")
    names = WireNames(request.tools)
    calls: list[ModelCall] = []
    for place, entry in enumerate(entries, start=1):
        function = _field(entry, "function")
        name = _field(function, "name")
        if not isinstance(name, str) or not name:
            raise _invalid(f"tool call {place} of the answer names no function")
        arguments = _as_text(_field(function, "arguments"))
        given = _field(entry, "id")
        is_usable = isinstance(given, str) and _ID.fullmatch(given) and all(c.id != given for c in calls)
        own = made_id([str(len(request.messages)), str(place), name, arguments])
        call_id = given if isinstance(given, str) and is_usable else own
        calls.append(call_of(call_id, names.back(name), arguments))
    return tuple(calls)


def raw_calls(message: object) -> str:
    """Return what a message says of calls as text, to count its tokens; empty for none."""
    entries = _entries(message)
    return json.dumps(entries, ensure_ascii=False, default=str) if entries else ""


def _entries(message: object) -> list[object]:
    """Return the entries of `tool_calls`, or the one of `function_call`, by which it went before 2024."""
    entries = getattr(message, "tool_calls", None)
    if entries:
        return [_plain(entry) for entry in entries] if isinstance(entries, list) else [entries]
    function = getattr(message, "function_call", None)
    return [{"function": _plain(function)}] if function else []


def _plain(value: object) -> object:
    return value.model_dump(exclude_unset=True, warnings=False) if isinstance(value, BaseModel) else value


def _field(holder: object, name: str) -> object:
    return holder.get(name) if isinstance(holder, Mapping) else None


def _as_text(arguments: object) -> str:
    """Return arguments as JSON text: some servers send the object itself, and nothing for none."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return "{}"
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)


def _invalid(message: str) -> ModelError:
    return ModelError(ErrorCode.INVALID_OUTPUT, message)
