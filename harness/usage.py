"""What a try used: tokens and money, and the record of the tries that a node made."""

from datetime import datetime
from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import ErrorCode


class Usage(BaseModel):
    """Tokens and cost of model calls."""

    model_config = ConfigDict(frozen=True)

    model: str = ""
    """Name of the model that answered; empty when none was called."""
    input_tokens: int = Field(default=0, ge=0)
    """Prompt tokens, those from a cache included."""
    output_tokens: int = Field(default=0, ge=0)
    """Output tokens, those of reasoning included."""
    cached_tokens: int = Field(default=0, ge=0)
    """Prompt tokens that the server took from its cache, at a price of their own."""
    reasoning_tokens: int = Field(default=0, ge=0)
    """Output tokens that are not in the answer."""
    cost_usd: Decimal | None = Field(default=None, ge=0)
    """None means that the price is unknown: shown as unknown, never counted as free."""
    estimated: bool = False
    """True when the server sent no usage and the tokens are an estimate."""

    @property
    def total_tokens(self) -> int:
        """Return prompt and output tokens together."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Usage") -> "Usage":
        """Add two usages; an unknown cost beside used tokens makes the sum unknown."""
        if not other.model and not other.total_tokens:
            return self
        if not self.model and not self.total_tokens:
            return other
        known = self.cost_usd is not None and other.cost_usd is not None
        total = Usage(
            model=", ".join(dict.fromkeys(filter(None, (*self.model.split(", "), other.model)))),
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=(self.cost_usd or Decimal(0)) + (other.cost_usd or Decimal(0)) if known else None,
            estimated=self.estimated or other.estimated,
        )
        return total.detailed(
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )

    def detailed(self, *, cached_tokens: int, reasoning_tokens: int) -> "Usage":
        """Return this usage with those counts that are not zero: history pays for every field that is set."""
        counts = {"cached_tokens": cached_tokens, "reasoning_tokens": reasoning_tokens}
        return self.model_copy(update={name: count for name, count in counts.items() if count})


NO_USAGE = Usage()


def no_usage() -> Usage:
    """Return the usage of a call that asked no model; as the default of a field, pydantic would copy it every time."""
    return NO_USAGE


class TryRecord(BaseModel):
    """One try of a node that did not end in its result."""

    model_config = ConfigDict(frozen=True)

    number: int
    """Temporal's activity attempt, from 1."""
    code: ErrorCode
    message: str
    usage: Usage = Field(default_factory=no_usage)
    started_at: datetime | None = None
    """None for a try whose worker was lost before it could say."""
    latency_ms: int = 0
    queue_ms: int = 0
    """From scheduling of the try to its start on a worker."""
    falls_back: bool = False
    """True when a model's provider failed, so that the next try asks the fallback model."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, on the high side: a reservation must not be too small.

    Four ASCII characters or one other character count as a token; source: OpenAI's rule of thumb for English.
    """
    ascii_chars = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return ascii_chars // 4 + (len(text) - ascii_chars) + 8
