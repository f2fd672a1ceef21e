"""Written calls: a tool call that a model wrote as text although it could have made it, as small models do."""

import json
import re
from collections.abc import Mapping

from activities.model.request import ModelCall, ModelRequest
from activities.model.said import call_of
from activities.model.wire_names import WireNames, made_id

_WRAPPED = re.compile(r"\s*(?:```(?:json)?[ \t]*\r?\n(.*)\r?\n```|<tool_call>(.*)</tool_call>|(\{.*\}))\s*", re.DOTALL)
_NAME_KEYS = ("name", "tool")
_ARGUMENT_KEYS = ("arguments", "parameters")


def written_call(text: str, request: ModelRequest) -> ModelCall | None:
    """Return the call when a text is one call of an offered tool, by its exact name, and nothing else; None otherwise.

    Taken for a call is only `{"name": ..., "arguments": {...}}`, with "tool" and "parameters" for other words, alone,
    in one code fence, or between <tool_call> tags. Anything else is the answer that it may well be.
    """
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped is None:
        return None
    value = _object(next(filter(None, wrapped.groups()), ""))
    name = next((value[key] for key in _NAME_KEYS if key in value), None)
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if len(value.keys() - {"type"}) != 2 or not isinstance(name, str) or not isinstance(arguments, dict):  # noqa: PLR2004
        return None
    offered = WireNames(request.tools).back(name)
    if all(offered != tool.name for tool in request.tools):
        return None
    as_text = json.dumps(arguments, ensure_ascii=False)
    return call_of(made_id([str(len(request.messages)), name, as_text]), offered, as_text)


def _object(text: str) -> Mapping[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
