"""The offline agent: steps of an agent loop by rules. It calls what it can fill in, and answers from the results."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from activities.model.offline_calls import OfflineCall, next_calls
from activities.model.offline_summary import write_summary
from activities.model.offline_writer import write_recommendation
from activities.prompts import unfenced
from harness.catalog import ToolSpec

JsonObject = Mapping[str, Any]
MOST_STEPS = 4
"""Steps with calls; the next one answers."""
GAMES = frozenset({"games", "prices"})
"""Results that make a game recommendation."""

_TOLD = ("given", "facts", "summary")
"""Labels of what a prompt tells beside the results."""
_EARLIER = ("summary", "record")
"""Labels of what a prompt tells of steps that are not in it."""
_GETTING = re.compile(r"^(?:get|fetch|list|read|query|find|load)_(?=\w)")


@dataclass(frozen=True)
class OfflineStep:
    """A step: calls, or the answer."""

    calls: tuple[OfflineCall, ...] = ()
    answer: str = ""


@dataclass
class _Work:
    """What the messages of a request say about the work so far."""

    steps: int = 0
    called: set[str] = field(default_factory=set)
    results: dict[str, JsonValue] = field(default_factory=dict)
    """By tool."""
    failures: dict[str, str] = field(default_factory=dict)
    """Error texts, by tool."""


def write_step(messages: Sequence[JsonObject], tools: Sequence[JsonObject], *, may_call: bool) -> OfflineStep:
    """Return the next step of a conversation, as the chat API has it, that offers these tools."""
    user = "\n".join(message["content"] for message in messages if message["role"] == "user")
    texts = unfenced(user)
    goal = texts.get("goal", user)
    specs = [_spec(tool["function"]) for tool in tools]
    work = _work_of(messages)
    if may_call and work.steps < MOST_STEPS:
        earlier = _named_in("\n".join(texts.get(label, "") for label in _EARLIER), specs)
        known = {**_given(texts), **work.results}
        if calls := next_calls(specs, goal, known, frozenset(work.called | earlier)):
            return OfflineStep(calls=calls)
    return OfflineStep(answer=_answer(goal, texts, work))


def _spec(function: JsonObject) -> ToolSpec:
    return ToolSpec(
        name=function["name"],
        description=function.get("description") or "",
        parameters=function.get("parameters") or {},
        result={},
    )


def _work_of(messages: Sequence[JsonObject]) -> _Work:
    work, tools = _Work(), dict[str, str]()
    for message in messages:
        calls = message.get("tool_calls") or []
        work.steps += bool(calls)
        tools |= {call["id"]: call["function"]["name"] for call in calls}
        if message["role"] == "tool":
            _take(work, tools.get(message["tool_call_id"], ""), message["content"])
    work.called = {*tools.values()}
    return work


def _take(work: _Work, tool: str, content: str) -> None:
    """Take what came of a call; a later result of a tool stands for all of them."""
    texts = unfenced(content)
    if "error" in texts:
        work.failures[tool] = texts["error"]
    else:
        work.results[tool] = _value(texts.get("result", content))


def _value(text: str) -> JsonValue:
    """Return what a text says as JSON, or the text itself: what is cut is none any more."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _given(texts: Mapping[str, str]) -> dict[str, JsonValue]:
    """Return the data that came with the goal, as if a tool had given it."""
    return {"given": _value(texts["given"])} if "given" in texts else {}


def _named_in(text: str, tools: Sequence[ToolSpec]) -> set[str]:
    return {tool.name for tool in tools if re.search(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", text)}


def _answer(goal: str, texts: Mapping[str, str], work: _Work) -> str:
    sources = {_GETTING.sub("", tool): _as_text(value) for tool, value in work.results.items()}
    if sources.keys() >= GAMES:
        return write_recommendation({"preferences": goal, **sources})
    told = {label: texts[label] for label in _TOLD if label in texts}
    return write_summary({"goal": goal, **told, **dict(_failed(work)), **sources}, goal)


def _failed(work: _Work) -> Iterator[tuple[str, str]]:
    for tool, error in work.failures.items():
        if tool not in work.results:
            yield f"{tool} failed", error


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
