"""Native tools: the part of a chat request that offers tools, and the messages about calls of them."""

import json
from typing import Any

from activities.model.request import Message, ModelRequest, ToolOffer
from activities.model.wire_names import WireNames, wire_id

NO_PARAMETERS = {"type": "object", "properties": {}}


def tool_fields(request: ModelRequest, *, has_choice: bool) -> dict[str, Any]:
    """Return the fields of a request that offer its tools; `has_choice` when the server knows `tool_choice`."""
    if not request.tools:
        return {}
    names = WireNames(request.tools)
    fields: dict[str, Any] = {"tools": [_offered(tool, names) for tool in request.tools]}
    if request.must_answer and has_choice:
        fields["tool_choice"] = "none"
    return fields


def conversation(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the messages after the system and the user text."""
    names = WireNames(request.tools)
    return [_sent(message, names) for message in request.messages]


def tools_text(request: ModelRequest) -> str:
    """Return the offered tools as they are sent, empty for none."""
    tools = tool_fields(request, has_choice=False).get("tools")
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":")) if tools else ""


def _offered(tool: ToolOffer, names: WireNames) -> dict[str, Any]:
    function = {
        "name": names.of(tool.name),
        "description": tool.description,
        "parameters": tool.parameters or NO_PARAMETERS,
    }
    return {"type": "function", "function": function}


def _sent(message: Message, names: WireNames) -> dict[str, Any]:
    match message.role:
        case "tool":
            return {"role": "tool", "tool_call_id": wire_id(message.call_id), "content": message.text}
        case "assistant" if message.calls:
            calls = [
                {
                    "id": wire_id(call.id),
                    "type": "function",
                    "function": {"name": names.of(call.name), "arguments": call.arguments},
                }
                for call in message.calls
            ]
            return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
        case role:
            return {"role": role, "content": message.text}
