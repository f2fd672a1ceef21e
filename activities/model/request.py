"""What is asked of a model and what comes back, apart from any provider."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel

from harness.errors import ErrorCode, ToolError
from harness.usage import Usage


class ModelRole(StrEnum):
    """What a model call is for."""

    PLANNER = "planner"
    SYNTHESIS = "synthesis"


@dataclass(frozen=True)
class ModelRequest:
    """One model call."""

    role: ModelRole
    system: str
    user: str
    max_output_tokens: int
    timeout: timedelta
    """Time limit of the whole call."""
    answer: type[BaseModel] | None = None
    """Model class of a structured answer, sent as a strict JSON schema; None asks for text."""


@dataclass(frozen=True)
class ModelAnswer:
    """A complete answer; a cut, refused or empty one is a ModelError instead."""

    text: str
    usage: Usage


class ModelError(ToolError):
    """A model call that gave no usable answer. It may have cost tokens all the same."""

    def __init__(
        self, code: ErrorCode, message: str, *, usage: Usage | None = None, retry_after_s: float | None = None
    ) -> None:
        """Create the error with what the call used."""
        super().__init__(code, message, retry_after_s=retry_after_s)
        self.usage = usage or Usage()


class Model(Protocol):
    """Anything that answers model requests."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer, or raise ModelError."""
        ...


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, on the high side: a reservation must not be too small.

    Four ASCII characters or one other character count as a token; source: OpenAI's rule of thumb for English.
    """
    ascii_chars = sum(1 for char in text if char.isascii())
    return ascii_chars // 4 + (len(text) - ascii_chars) + 8
