"""What is asked of a model and what comes back, apart from any provider."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from harness.catalog import JsonSchema
from harness.errors import ErrorCode, ToolError
from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole
from harness.usage import Usage

Structure_co = TypeVar("Structure_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True)
class ToolOffer:
    """A tool that a model may call."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True)
class ModelCall:
    """A tool call as a model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON text, as the model wrote it."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation, after the system and the user text of the request."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    """Of an assistant's message."""
    call_id: str = ""
    """The call that a tool's message answers."""


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
    messages: tuple[Message, ...] = ()
    """The conversation so far, after `system` and `user`."""
    tools: tuple[ToolOffer, ...] = ()
    """What the model may call; the answer then has calls or a text."""
    must_answer: bool = False
    """True when it may call nothing though tools are named, because the conversation has calls of them."""
    goal: str = ""
    """What the user has asked for, where that is in the prompt: orders in it that attack the harness block the call."""
    is_grounded: bool = False
    """True when figures, prices and dates of a text answer must come from the request's own texts."""


@dataclass(frozen=True)
class Parsed(Generic[Structure_co]):
    """A structured answer."""

    value: Structure_co
    is_repaired: bool = False
    """True when it was no JSON until its syntax was repaired."""


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
    calls: tuple[ModelCall, ...] = ()
    """The tool calls that the model wants; the text may be empty then."""
    parsed: Parsed[BaseModel] | None = None
    """The text as the class that was asked for, once a guardrail has read it: reading a large plan takes a while."""


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
