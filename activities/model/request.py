"""What is asked of a model and what comes back, apart from any provider."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from pydantic import BaseModel

from harness.errors import ErrorCode, ToolError
from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole
from harness.usage import Usage


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
    models: ModelChoice = NO_CHOICE
    """What the run wants in place of the worker's models."""
    on_fallback: bool = False
    """True when an earlier try of the same call ended with a failure of the provider."""


@dataclass(frozen=True)
class ModelAnswer:
    """A complete answer; a cut, refused or empty one is a ModelError instead."""

    text: str
    usage: Usage
    model: str = ""
    """The model by the name that its server gives it; empty when it gives none."""
    finish_reason: str = ""
    """Why the server says that the answer ended; empty when it does not say."""
    latency_ms: int = 0
    """From sending the request to its answer."""


class ModelError(ToolError):
    """A model call that gave no usable answer. It may have cost tokens all the same."""

    falls_back = False
    """True when the next try is to ask the fallback model, whatever the code says about tries."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        usage: Usage | None = None,
        retry_after_s: float | None = None,
        is_providers: bool = False,
    ) -> None:
        """Create the error with what the call used; `is_providers` when another provider may well answer."""
        super().__init__(code, message, retry_after_s=retry_after_s)
        self.usage = usage or Usage()
        self.is_providers = is_providers


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
