"""Dialects: how much of the chat API a server understands, learned from what it refuses."""

import json
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue

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


_OTHER_LIMIT = {
    Feature.MAX_TOKENS: Feature.MAX_COMPLETION_TOKENS,
    Feature.MAX_COMPLETION_TOKENS: Feature.MAX_TOKENS,
}
_ABOUT_FORMAT = re.compile(
    r"response[ _]format|json[ _]schema|json[ _]object|structured[ _]output|json mode|guided|grammar", re.IGNORECASE
)
_IS_REFUSAL = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|not (?:permitted|allowed)|unexpected|invalid|unavailable|must be"
    r"|extra|failed to parse",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Refusal:
    """Why a server says that it refused a request."""

    text: str
    parameter: str = ""
    """The parameter that it names as the cause; empty when it names none."""

    def is_about(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the cause matches: the parameter when one is named, since a text may quote the request."""
        return pattern.search(self.parameter or self.text) is not None


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
        """Return what of this dialect a server refused; None when it refused something else, or nothing is left."""
        if not _IS_REFUSAL.search(refusal.text):
            return None
        if request.answer is not None and self.answer_format and refusal.is_about(_ABOUT_FORMAT):
            return self.answer_format
        has_other_limit = _OTHER_LIMIT[self.limit] not in self.refused
        if has_other_limit and refusal.is_about(re.compile(rf"\b{self.limit}\b")):
            return self.limit
        return None

    def without(self, feature: Feature) -> "Dialect":
        """Return the dialect that does without one thing more."""
        return replace(self, refused=self.refused | {feature})

    def body(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the arguments of the chat call."""
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
        roles = (("system", system), ("user", request.user))
        return {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in roles if text],
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


@cache
def _schema(answer: type[BaseModel]) -> JsonSchema:
    return strict_schema(answer)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
