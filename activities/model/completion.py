"""Completions: what a chat answer says, and what it cost."""

import json
from dataclasses import dataclass, field

from openai.types.chat import ChatCompletion
from openai.types.chat.chat_completion import Choice

from activities.encodable import encodable
from activities.model.dialect import schema_text
from activities.model.json_actions import ACTION_RULES, StepAction
from activities.model.native_calls import raw_calls
from activities.model.native_tools import tools_text
from activities.model.pricing import PriceList
from activities.model.request import ModelAnswer, ModelCall, ModelError, ModelRequest
from activities.model.scrubbing import hide
from activities.model.step_reading import read_step
from activities.model.strict_schema import strict_schema
from activities.model.token_counts import TokenCounts, reported
from harness.catalog import ModelCard
from harness.errors import ErrorCode, bounded
from harness.usage import Usage, estimate_tokens

CUT = "length"
"""Finish reason of an answer that reached its limit."""
MAX_PROBLEM = 330
"""Characters that are kept of what a server says against an answer."""
MAX_NAME = 100
"""Characters that are kept of a name that a server gives."""
ACTION_TEXT = ACTION_RULES + json.dumps(strict_schema(StepAction))
"""What JSON actions add to a prompt."""


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
        message = getattr(choice, "message", None)
        finish = hide(_text(choice, "finish_reason"), self.secrets)
        written = _text(message, "content") + raw_calls(message)
        usage = self._usage(completion, request, written, is_cut=finish == CUT)
        try:
            _check_end(message, finish, _limit(request, usage))
            said = read_step(message, _text(message, "content"), request).without(self.secrets)
        except ModelError as error:
            problem = bounded(hide(error.message, self.secrets), MAX_PROBLEM)
            raise ModelError(error.code, problem, usage=usage) from None
        return ModelAnswer(
            said.text,
            usage,
            model=bounded(hide(_text(completion, "model"), self.secrets), MAX_NAME),
            finish_reason=bounded(finish, MAX_NAME),
            latency_ms=latency_ms,
            calls=said.calls,
        )

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
    """Estimate the prompt tokens of a request, with its conversation, its tools and its answer schema.

    Tools count as they would for a server that knows none, which takes a little more.
    """
    tools = tools_text(request)
    told = [text for message in request.messages for text in (message.text, *map(_call_text, message.calls))]
    optional = [schema_text(request), tools, ACTION_TEXT if tools else "", *told]
    return sum(map(estimate_tokens, (request.system, request.user, *filter(None, optional))))


def _call_text(call: ModelCall) -> str:
    return f"{call.id} {call.name} {call.arguments}"


def _first_choice(completion: ChatCompletion) -> Choice | None:
    choices: object = completion.choices  # the client does not check what a server sends
    return choices[0] if isinstance(choices, list) and choices else None


def _limit(request: ModelRequest, usage: Usage) -> str:
    """Say where an answer was cut: a server may have a limit of its own, lower than what was asked for."""
    limit, used = request.max_output_tokens, usage.output_tokens
    is_lower = not usage.estimated and 0 < used < limit
    return f"{limit} output tokens" + (f", or at a lower one of the server: it counts {used}" if is_lower else "")


def _check_end(message: object, finish: str, limit: str) -> None:
    """Refuse an answer for how it ended; a cut one first, because it may be empty, look whole, or be half a call."""
    refusal = getattr(message, "refusal", None)
    if finish == CUT:
        raise ModelError(ErrorCode.OUTPUT_TRUNCATED, f"the answer was cut at the limit of {limit}")
    if refusal:
        raise ModelError(ErrorCode.GUARDRAIL_BLOCKED, f"the model refused to answer: {refusal}")
    if finish == "content_filter":
        raise ModelError(ErrorCode.GUARDRAIL_BLOCKED, "the server's content filter stopped the answer")


def _text(holder: object, name: str) -> str:
    """Return a text that a server sent, empty when it sent something else."""
    value = getattr(holder, name, None)
    return encodable(value) if isinstance(value, str) else ""
