"""A model bounded by the tokens that the budget granted to one call, as one try of that call sees it."""

import asyncio
from dataclasses import replace

from activities.model.completion import estimate_prompt
from activities.model.request import Model, ModelAnswer, ModelError, ModelRequest
from harness.errors import ErrorCode
from harness.model_choice import NO_CHOICE, ModelChoice
from harness.usage import NO_USAGE, Usage


class BoundedModel:
    """Keeps the requests of one call within its grant and sums up what they used, failed ones included."""

    def __init__(
        self, model: Model, max_tokens: int, *, models: ModelChoice = NO_CHOICE, on_fallback: bool = False
    ) -> None:
        """Bound a model by a number of tokens, prompt and output together; ask as the run and the earlier tries say."""
        self._model = model
        self._max_tokens = max_tokens
        self._models = models
        self._on_fallback = on_fallback
        self._in_flight = 0
        self.usage = NO_USAGE

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask with the output limit lowered to what is left.

        Raises:
            ModelError: CONTEXT_OVERFLOW when the prompt alone does not fit; nothing is sent then.
        """
        prompt = estimate_prompt(request)
        left = self._max_tokens - self.usage.total_tokens - self._in_flight
        output = min(request.max_output_tokens, left - prompt)
        if output <= 0:
            raise ModelError(
                ErrorCode.CONTEXT_OVERFLOW,
                f"the prompt needs about {prompt} tokens and leaves no room for an answer: "
                f"{max(left, 0)} of the {self._max_tokens} tokens granted to this call are left",
            )
        self._in_flight += prompt + output
        try:
            answer = await self._model.ask(
                replace(request, max_output_tokens=output, models=self._models, on_fallback=self._on_fallback)
            )
        except ModelError as error:
            self.usage = self.usage.plus(error.usage)
            raise
        except asyncio.CancelledError:  # What was sent is paid for, whoever gave up waiting.
            self.usage = self.usage.plus(Usage(input_tokens=prompt, estimated=True))
            raise
        finally:
            self._in_flight -= prompt + output
        self.usage = self.usage.plus(answer.usage)
        return answer
