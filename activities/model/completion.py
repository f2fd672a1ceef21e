"""Completions: what a chat answer says, and what it cost."""

from dataclasses import dataclass, field

from openai.types.chat import ChatCompletion
from openai.types.chat.chat_completion import Choice

from activities.model.dialect import schema_text
from activities.model.pricing import PriceList
from activities.model.request import ModelAnswer, ModelError, ModelRequest, estimate_tokens
from activities.model.scrubbing import hide
from activities.model.token_counts import TokenCounts, reported
from harness.catalog import ModelCard
from harness.errors import ErrorCode, bounded
from harness.usage import Usage

CUT = "length"
"""Finish reason of an answer that reached its limit."""
MAX_PROBLEM = 330
"""Characters that are kept of what a server says against an answer."""
MAX_NAME = 100
"""Characters that are kept of a name that a server gives."""


@dataclass(frozen=True)
class Reader:
    """Reads the answers of one model."""

    card: ModelCard
    prices: PriceList
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What a server may echo, and nobody may see."""

    def read(self, completion: object, request: ModelRequest, latency_ms: int = 0) -> ModelAnswer:
        """Return the answer.

        Raises:
            ModelError: for a cut, refused or empty answer; it carries the usage all the same.
        """
        if not isinstance(completion, ChatCompletion):
            raise ModelError(
                ErrorCode.INVALID_OUTPUT, "the server's answer is no chat completion; check OPENAI_BASE_URL"
            )
        choice = _first_choice(completion)
        text = hide(_content(choice), self.secrets)
        finish = hide(_text(choice, "finish_reason"), self.secrets)
        usage = self._usage(completion, request, text, is_cut=finish == CUT)
        problem = _problem(choice, finish, text, _limit(request, usage))
        if problem:
            raise ModelError(problem[0], bounded(hide(problem[1], self.secrets), MAX_PROBLEM), usage=usage)
        named = bounded(hide(_text(completion, "model"), self.secrets), MAX_NAME)
        return ModelAnswer(text, usage, model=named, finish_reason=bounded(finish, MAX_NAME), latency_ms=latency_ms)

    def lost(self, request: ModelRequest) -> Usage:
        """Return what a call cost that was sent but never answered: its prompt, by estimate."""
        return self._priced(TokenCounts(estimate_prompt(request), 0), estimated=True)

    def _usage(self, completion: ChatCompletion, request: ModelRequest, text: str, *, is_cut: bool) -> Usage:
        """Take the counts that the server sent and make sense; estimate the others, never as nothing."""
        sent = reported(completion)
        output = sent.output_tokens
        knows_output = output is not None and (output > 0 or not text)
        if not knows_output:
            output = request.max_output_tokens if is_cut else estimate_tokens(text) if text else 0
        counts = TokenCounts(
            sent.input_tokens or estimate_prompt(request), output or 0, sent.cached_tokens, sent.reasoning_tokens
        )
        return self._priced(counts, estimated=not (knows_output and sent.input_tokens))

    def _priced(self, counts: TokenCounts, *, estimated: bool) -> Usage:
        cost = self.card.input_token_usd if self.card.offline else self.prices.call_cost_usd(self.card.name, counts)
        return Usage(
            model=self.card.name,
            input_tokens=counts.input_tokens,
            output_tokens=counts.output_tokens,
            cost_usd=cost,
            estimated=estimated,
        ).detailed(cached_tokens=counts.cached_tokens, reasoning_tokens=counts.reasoning_tokens)


def estimate_prompt(request: ModelRequest) -> int:
    """Estimate the prompt tokens of a request, its answer schema included."""
    schema = schema_text(request)
    return estimate_tokens(request.system) + estimate_tokens(request.user) + (estimate_tokens(schema) if schema else 0)


def _first_choice(completion: ChatCompletion) -> Choice | None:
    choices: object = completion.choices  # the client does not check what a server sends
    return choices[0] if isinstance(choices, list) and choices else None


def _limit(request: ModelRequest, usage: Usage) -> str:
    """Say where an answer was cut: a server may have a limit of its own, lower than what was asked for."""
    limit, used = request.max_output_tokens, usage.output_tokens
    is_lower = not usage.estimated and 0 < used < limit
    return f"{limit} output tokens" + (f", or at a lower one of the server: it counts {used}" if is_lower else "")


def _problem(choice: Choice | None, finish: str, text: str, limit: str) -> tuple[ErrorCode, str] | None:
    """Return why an answer cannot be used; a cut one first, because its text may be empty or look whole."""
    refusal = getattr(_message(choice), "refusal", None)
    if finish == CUT:
        return ErrorCode.OUTPUT_TRUNCATED, f"the answer was cut at the limit of {limit}"
    if refusal:
        return ErrorCode.GUARDRAIL_BLOCKED, f"the model refused to answer: {refusal}"
    if finish == "content_filter":
        return ErrorCode.GUARDRAIL_BLOCKED, "the server's content filter stopped the answer"
    if not text.strip():
        return ErrorCode.INVALID_OUTPUT, "the answer is empty"
    return None


def _message(choice: Choice | None) -> object:
    return getattr(choice, "message", None)


def _content(choice: Choice | None) -> str:
    return _text(_message(choice), "content")


def _text(holder: object, name: str) -> str:
    """Return a text that a server sent, empty when it sent something else."""
    value = getattr(holder, name, None)
    return value if isinstance(value, str) else ""
