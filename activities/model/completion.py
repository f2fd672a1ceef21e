"""Completions: what a chat answer says, and what it cost."""

from dataclasses import dataclass

from openai.types.chat import ChatCompletion
from openai.types.chat.chat_completion import Choice

from activities.model.dialect import schema_text
from activities.model.pricing import call_cost_usd
from activities.model.request import ModelAnswer, ModelError, ModelRequest, estimate_tokens
from harness.catalog import ModelCard
from harness.errors import ErrorCode, bounded
from harness.usage import Usage


@dataclass(frozen=True)
class Reader:
    """Reads the answers of one model."""

    card: ModelCard
    base_url: str

    def read(self, completion: object, request: ModelRequest) -> ModelAnswer:
        """Return the answer.

        Raises:
            ModelError: for a cut, refused or empty answer; it carries the usage all the same.
        """
        if not isinstance(completion, ChatCompletion):
            raise ModelError(
                ErrorCode.INVALID_OUTPUT, "the server's answer is no chat completion; check OPENAI_BASE_URL"
            )
        choice = _first_choice(completion)
        text = _content(choice)
        usage = self._usage(completion, request, text)
        problem = _problem(choice, text, request)
        if problem:
            raise ModelError(problem[0], problem[1], usage=usage)
        return ModelAnswer(text, usage)

    def lost(self, request: ModelRequest) -> Usage:
        """Return what a call cost that was sent but never answered: its prompt, by estimate."""
        return self._estimated(request, "")

    def _usage(self, completion: ChatCompletion, request: ModelRequest, text: str) -> Usage:
        sent = completion.usage
        prompt, output = _count(sent, "prompt_tokens"), _count(sent, "completion_tokens")
        if not prompt or output is None or (output == 0 and text):
            return self._estimated(request, text)
        cached = _count(getattr(sent, "prompt_tokens_details", None), "cached_tokens")
        return self._priced(prompt, output, cached=cached or 0, estimated=False)

    def _estimated(self, request: ModelRequest, text: str) -> Usage:
        output = estimate_tokens(text) if text else 0
        return self._priced(estimate_prompt(request), output, cached=0, estimated=True)

    def _priced(self, prompt: int, output: int, *, cached: int, estimated: bool) -> Usage:
        if self.card.offline:
            cost = self.card.input_token_usd
        else:
            cost = call_cost_usd(
                self.card.name, self.base_url, input_tokens=prompt, output_tokens=output, cached_tokens=cached
            )
        return Usage(
            model=self.card.name, input_tokens=prompt, output_tokens=output, cost_usd=cost, estimated=estimated
        )


def estimate_prompt(request: ModelRequest) -> int:
    """Estimate the prompt tokens of a request, its answer schema included."""
    schema = schema_text(request)
    return estimate_tokens(request.system) + estimate_tokens(request.user) + (estimate_tokens(schema) if schema else 0)


def _first_choice(completion: ChatCompletion) -> Choice | None:
    choices: object = completion.choices  # the client does not check what a server sends
    return choices[0] if isinstance(choices, list) and choices else None


def _problem(choice: Choice | None, text: str, request: ModelRequest) -> tuple[ErrorCode, str] | None:
    """Return why an answer cannot be used; a cut one first, because its text may be empty or look whole."""
    finish = choice.finish_reason if choice else None
    refusal = getattr(_message(choice), "refusal", None)
    if finish == "length":
        limit = request.max_output_tokens
        return ErrorCode.OUTPUT_TRUNCATED, f"the answer was cut at the limit of {limit} output tokens"
    if refusal:
        return ErrorCode.GUARDRAIL_BLOCKED, f"the model refused to answer: {bounded(str(refusal), 300)}"
    if finish == "content_filter":
        return ErrorCode.GUARDRAIL_BLOCKED, "the server's content filter stopped the answer"
    if not text.strip():
        return ErrorCode.INVALID_OUTPUT, "the answer is empty"
    return None


def _message(choice: Choice | None) -> object:
    return getattr(choice, "message", None)


def _content(choice: Choice | None) -> str:
    content = getattr(_message(choice), "content", None)
    return content if isinstance(content, str) else ""


def _count(holder: object, name: str) -> int | None:
    """Return a count that a server sent, None when it sent something else."""
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
