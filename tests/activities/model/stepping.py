"""Ask for steps of an agent loop: requests with tools, and answers with calls."""

from dataclasses import replace
from typing import Any

from activities.model.request import Message, ModelCall, ModelRequest, ToolOffer
from harness.model_choice import ModelRole
from tests.activities.model.asking import request_for
from tests.scripted_model import Reply, completion, error

SEARCH = ToolOffer(
    "search",
    "Find pages.",
    {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False},
)
CLOCK = ToolOffer("world.clock", "Tell the time.", {})
NO_TOOLS = Reply(400, error("registry.ollama.ai/library/gemma3:4b does not support tools"))
BOTH = (ModelCall("c1", "search", '{"q":"cats"}'), ModelCall("c2", "world.clock", "{}"))
EARLIER = (
    Message("assistant", "Let me see.", BOTH),
    Message("tool", "9 lives", call_id="c1"),
    Message("tool", "noon", call_id="c2"),
    Message("user", "Go on."),
)


def step_request(*messages: Message, must_answer: bool = False) -> ModelRequest:
    """Return a request for a step that offers two tools."""
    plain = request_for(role=ModelRole.STEPS)
    return replace(plain, messages=messages, tools=(SEARCH, CLOCK), must_answer=must_answer)


def call(name: object = "search", arguments: object = '{"q":"cats"}', call_id: object = "c1") -> dict[str, Any]:
    """Return a tool call as a server sends it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: object, text: str | None = None, finish: str = "tool_calls", **message: Any) -> Reply:
    """Return an answer with tool calls."""
    return Reply(body=completion(text, finish=finish, tool_calls=[*calls], **message))
