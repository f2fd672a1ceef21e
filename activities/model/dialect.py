"""Dialects: how much of the chat API a server understands, learned from what it refuses."""

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue

from activities.model.request import ModelRequest
from activities.model.strict_schema import strict_schema
from harness.catalog import JsonSchema


class AnswerFormat(StrEnum):
    """How a structured answer is asked for, best first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"


class LimitParameter(StrEnum):
    """Name of the output limit. OpenAI's newer models refuse the old name, many other servers ignore the new one."""

    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    MAX_TOKENS = "max_tokens"


_POORER = {
    AnswerFormat.JSON_SCHEMA: AnswerFormat.JSON_OBJECT,
    AnswerFormat.JSON_OBJECT: AnswerFormat.TEXT,
}
_OTHER_LIMIT = {
    LimitParameter.MAX_TOKENS: LimitParameter.MAX_COMPLETION_TOKENS,
    LimitParameter.MAX_COMPLETION_TOKENS: LimitParameter.MAX_TOKENS,
}
_ABOUT_FORMAT = re.compile(
    r"response[ _]format|json[ _]schema|json[ _]object|structured output|json mode", re.IGNORECASE
)
_IS_REFUSAL = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|not (?:permitted|allowed)|unexpected|invalid|unavailable|must be"
    r"|extra",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Dialect:
    """One way to put a request."""

    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA
    limit: LimitParameter = LimitParameter.MAX_COMPLETION_TOKENS
    is_limit_settled: bool = False
    """True after one change of the limit's name, so that two refusals end the search."""

    def after_refusal(self, text: str, request: ModelRequest) -> "Dialect | None":
        """Return the dialect to try after an HTTP 400 with this text, or None when the text is about something else."""
        if not _IS_REFUSAL.search(text):
            return None
        if request.answer is not None and _ABOUT_FORMAT.search(text) and self.answer_format in _POORER:
            return replace(self, answer_format=_POORER[self.answer_format])
        if not self.is_limit_settled and re.search(rf"\b{self.limit.value}\b", text):
            return replace(self, limit=_OTHER_LIMIT[self.limit], is_limit_settled=True)
        return None

    def body(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the arguments of the chat call."""
        system = request.system
        extra: dict[str, Any] = {}
        if request.answer is not None and self.answer_format is AnswerFormat.JSON_SCHEMA:
            schema = {"name": _snake(request.answer.__name__), "strict": True, "schema": _schema(request.answer)}
            extra = {"response_format": {"type": "json_schema", "json_schema": schema}}
        elif request.answer is not None:
            system = (
                f"{system}\n\nAnswer with one JSON object of this schema, and nothing else:\n{schema_text(request)}"
            )
            if self.answer_format is AnswerFormat.JSON_OBJECT:
                extra = {"response_format": {"type": "json_object"}}
        roles = (("system", system), ("user", request.user))
        return {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in roles if text],
            self.limit.value: request.max_output_tokens,
            **extra,
        }


def schema_text(request: ModelRequest) -> str:
    """Return the schema of a structured answer as text, empty when text is asked for."""
    value: JsonValue = _schema(request.answer) if request.answer else None
    return json.dumps(value, separators=(",", ":")) if value else ""


@cache
def _schema(answer: type[BaseModel]) -> JsonSchema:
    return strict_schema(answer)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
