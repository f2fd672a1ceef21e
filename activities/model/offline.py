"""The offline model: a stand-in that answers by rules, behind the same client as any other server."""

import json
from collections.abc import Mapping
from typing import Any

import httpx2

from activities.model.offline_agent import write_step
from activities.model.offline_calls import OfflineCall
from activities.model.offline_extract import OLDER_STEPS, write_extract
from activities.model.offline_planner import write_plan
from activities.model.offline_router import write_pick
from activities.model.offline_summary import write_summary
from activities.model.offline_writer import write_recommendation
from activities.model.wire_names import made_id
from activities.prompts import unfenced
from harness.usage import estimate_tokens

OFFLINE_MODEL = "offline"
PLAN_SCHEMA = "plan"
PICK_SCHEMA = "tool_pick"
GAMES_LABELS = frozenset({"preferences", "games", "prices"})
"""A prompt that carries these asks for a game recommendation."""
NO_LIMIT = 1_000_000


def offline_http_client() -> httpx2.AsyncClient:
    """Return an HTTP client whose chat requests are answered in the process, without a socket."""
    return httpx2.AsyncClient(transport=httpx2.MockTransport(answer_chat))


def answer_chat(http_request: httpx2.Request) -> httpx2.Response:
    """Answer a chat request as an OpenAI server would. Equal requests get equal answers."""
    request = json.loads(http_request.content)
    limit = request.get("max_completion_tokens") or request.get("max_tokens") or NO_LIMIT
    message = _step(request) if request.get("tools") else _said(_text(request, limit))
    written = message["content"] or json.dumps(message["tool_calls"])
    is_cut = estimate_tokens(written) > limit
    if is_cut:
        written = written[: 4 * max(limit - 8, 0)]
        message = _said(written if message["content"] else "")
    return httpx2.Response(200, json=_completion(_prompt(request), message, written, is_cut=is_cut))


def _step(request: dict[str, Any]) -> dict[str, Any]:
    messages = request["messages"]
    step = write_step(messages, request["tools"], may_call=request.get("tool_choice") != "none")
    if not step.calls:
        return _said(step.answer)
    calls = [_call(len(messages), call) for call in step.calls]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _call(place: int, call: OfflineCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": made_id([str(place), *function.values()]), "type": "function", "function": function}


def _said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _text(request: dict[str, Any], limit: int) -> str:
    user = _message(request, "user")
    texts = unfenced(user)
    schema_name = _schema(request).get("name", "")
    if schema_name == PLAN_SCHEMA:
        return write_plan(texts)
    if schema_name == PICK_SCHEMA:
        return write_pick(texts)
    if OLDER_STEPS in texts:
        return write_extract(texts, most_tokens=limit)
    if texts.keys() >= GAMES_LABELS:
        return write_recommendation(texts)
    return write_summary(texts, user)


def _completion(prompt: str, message: dict[str, Any], written: str, *, is_cut: bool) -> dict[str, Any]:
    prompt_tokens, completion_tokens = estimate_tokens(prompt), estimate_tokens(written)
    finish = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-offline",
        "object": "chat.completion",
        "created": 0,
        "model": OFFLINE_MODEL,
        "choices": [{"index": 0, "finish_reason": "length" if is_cut else finish, "message": message}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _prompt(request: dict[str, Any]) -> str:
    """Return all that costs prompt tokens."""
    system, user = _message(request, "system"), _message(request, "user")
    others = [message for message in request["messages"] if message["role"] not in {"system", "user"}]
    beside = [json.dumps(part, ensure_ascii=False) for part in (others, request.get("tools")) if part]
    return "".join([system, user, json.dumps(_schema(request)), *beside])


def _schema(request: dict[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = request.get("response_format", {}).get("json_schema", {})
    return schema


def _message(request: dict[str, Any], role: str) -> str:
    return "\n".join(message["content"] for message in request["messages"] if message["role"] == role)
