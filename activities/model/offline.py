"""The offline model: a stand-in that answers by rules, behind the same client as any other server."""

import json
from typing import Any

import httpx2

from activities.model.offline_planner import write_plan
from activities.model.offline_router import write_pick
from activities.model.offline_summary import write_summary
from activities.model.offline_writer import write_recommendation
from activities.model.request import estimate_tokens
from activities.prompts import unfenced

OFFLINE_MODEL = "offline"
PLAN_SCHEMA = "plan"
PICK_SCHEMA = "tool_pick"
GAMES_LABELS = frozenset({"preferences", "games", "prices"})
"""A prompt that carries these asks for a game recommendation."""


def offline_http_client() -> httpx2.AsyncClient:
    """Return an HTTP client whose chat requests are answered in the process, without a socket."""
    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer_chat))


def answer_chat(http_request: httpx2.Request) -> httpx2.Response:
    """Answer a chat request as an OpenAI server would. Equal requests get equal answers."""
    request = json.loads(http_request.content)
    system, user = _message(request, "system"), _message(request, "user")
    schema = request.get("response_format", {}).get("json_schema", {})
    text = _text(schema.get("name", ""), user)
    limit = request.get("max_completion_tokens") or request.get("max_tokens") or estimate_tokens(text)
    kept = text if estimate_tokens(text) <= limit else text[: 4 * max(limit - 8, 0)]
    return httpx2.Response(200, json=_completion(system + user + json.dumps(schema), kept, is_cut=kept != text))


def _text(schema_name: str, user: str) -> str:
    texts = unfenced(user)
    if schema_name == PLAN_SCHEMA:
        return write_plan(texts)
    if schema_name == PICK_SCHEMA:
        return write_pick(texts)
    if texts.keys() >= GAMES_LABELS:
        return write_recommendation(texts)
    return write_summary(texts, user)


def _completion(prompt: str, text: str, *, is_cut: bool) -> dict[str, Any]:
    prompt_tokens, completion_tokens = estimate_tokens(prompt), estimate_tokens(text)
    return {
        "id": "chatcmpl-offline",
        "object": "chat.completion",
        "created": 0,
        "model": OFFLINE_MODEL,
        "choices": [
            {
                "index": 0,
                "finish_reason": "length" if is_cut else "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _message(request: dict[str, Any], role: str) -> str:
    return "\n".join(message["content"] for message in request["messages"] if message["role"] == role)
