"""Dialects: how much of the chat API a server understands, learned from what it refuses."""

import json
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue

from activities.model.json_actions import StepAction, as_actions
from activities.model.native_tools import conversation, tool_fields
from activities.model.refusal import ABOUT_CHOICE, ABOUT_FORMAT, ABOUT_TOOLS, Refusal
from activities.model.request import ModelRequest
from activities.model.strict_schema import strict_schema
from harness.catalog import JsonSchema


class Feature(StrEnum):
    """What a server may refuse."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    """Name of the output limit that OpenAI's newer models want, and that other servers may not know."""
    MAX_TOKENS = "max_tokens"
    TOOLS = "tools"
    """Tool calls, and messages about them."""
    TOOL_CHOICE = "tool_choice"
    """The order to call none of the tools that are named."""


_OTHER_LIMIT = {
    Feature.MAX_TOKENS: Feature.MAX_COMPLETION_TOKENS,
    Feature.MAX_COMPLETION_TOKENS: Feature.MAX_TOKENS,
}


@dataclass(frozen=True)
class Dialect:
    """One way to put a request: without what the server has refused."""

    preferred_limit: Feature = Feature.MAX_COMPLETION_TOKENS
    refused: frozenset[Feature] = frozenset()

    @property
    def answer_format(self) -> Feature | None:
        """Return how a structured answer is asked for; None means in the prompt alone."""
        ladder = (Feature.JSON_SCHEMA, Feature.JSON_OBJECT)
        return next((rung for rung in ladder if rung not in self.refused), None)

    @property
    def limit(self) -> Feature:
        """Return the name of the output limit."""
        preferred = self.preferred_limit
        return _OTHER_LIMIT[preferred] if preferred in self.refused else preferred

    def refused_by(self, refusal: Refusal, request: ModelRequest) -> Feature | None:
        """Return what of this dialect a server refused; None when it refused something else, or nothing is left.

        Args:
            refusal: What the server said.
            request: What it was asked, in the form that `form` gave it.
        """
        if not refusal.is_of_form:
            return None
        if _has_native_tools(request) and refusal.is_about(ABOUT_TOOLS):
            is_choice = request.must_answer and self.has_tool_choice and refusal.is_about(ABOUT_CHOICE)
            return Feature.TOOL_CHOICE if is_choice else Feature.TOOLS
        if request.answer is not None and self.answer_format and refusal.is_about(ABOUT_FORMAT):
            return self.answer_format
        has_other_limit = _OTHER_LIMIT[self.limit] not in self.refused
        if has_other_limit and refusal.is_about(re.compile(rf"\b{self.limit}\b")):
            return self.limit
        return None

    def without(self, feature: Feature) -> "Dialect":
        """Return the dialect that does without one thing more."""
        return replace(self, refused=self.refused | {feature})

    @property
    def has_tool_choice(self) -> bool:
        """Return whether a model can be told to call nothing."""
        return Feature.TOOL_CHOICE not in self.refused

    def form(self, request: ModelRequest) -> ModelRequest:
        """Return a request in the form in which it is put: without tools, when the server has refused them."""
        return as_actions(request) if Feature.TOOLS in self.refused and _has_native_tools(request) else request

    def body(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the arguments of the chat call for a request that is in its form."""
        system = request.system
        extra: dict[str, Any] = {}
        if request.answer is not None and self.answer_format is Feature.JSON_SCHEMA:
            schema = {"name": _snake(request.answer.__name__), "strict": True, "schema": _schema(request.answer)}
            extra = {"response_format": {"type": "json_schema", "json_schema": schema}}
        elif request.answer is not None:
            system = (
                f"{system}\n\nAnswer with one JSON object of this schema, and nothing else:\n{schema_text(request)}"
            )
            if self.answer_format is Feature.JSON_OBJECT:
                extra = {"response_format": {"type": "json_object"}}
        if _has_native_tools(request):
            extra |= tool_fields(request, has_choice=self.has_tool_choice)
        roles = (("system", system), ("user", request.user))
        first = [{"role": role, "content": text} for role, text in roles if text]
        return {
            "model": model,
            "messages": [*first, *conversation(request)],
            self.limit.value: request.max_output_tokens,
            **extra,
        }


@dataclass
class RefusalMemory:
    """What servers refused, by model and base URL. A worker has one for its life."""

    _refused: dict[tuple[str, str], frozenset[Feature]] = field(default_factory=dict)

    def dialect(self, model: str, base_url: str) -> Dialect:
        """Return the best dialect that a model's server has not refused."""
        # Servers other than OpenAI may know the old name only, and ignore the limit under the new one.
        limit = Feature.MAX_TOKENS if base_url else Feature.MAX_COMPLETION_TOKENS
        return Dialect(limit, self._refused.get((model, base_url), frozenset()))

    def learn(self, model: str, base_url: str, refused: frozenset[Feature]) -> None:
        """Remember what was refused; calls at the same time may learn in any order."""
        key = (model, base_url)
        self._refused[key] = self._refused.get(key, frozenset()) | refused


def schema_text(request: ModelRequest) -> str:
    """Return the schema of a structured answer as text, empty when text is asked for."""
    value: JsonValue = _schema(request.answer) if request.answer else None
    return json.dumps(value, separators=(",", ":")) if value else ""


def _has_native_tools(request: ModelRequest) -> bool:
    """Return whether a request speaks of tools in the terms of the chat API."""
    return request.answer is not StepAction and bool(request.tools or any(m.calls for m in request.messages))


@cache
def _schema(answer: type[BaseModel]) -> JsonSchema:
    return strict_schema(answer)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
