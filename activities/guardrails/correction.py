"""Correction: one more round for an answer with figures that come from nowhere."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from itertools import chain

from activities.guardrails.checks import texts_of
from activities.model.request import ModelAnswer, ModelRequest
from activities.off_loop import off_loop
from activities.prompts import fenced, fenced_json
from harness.errors import ErrorCode, ToolError
from harness.grounding import figures_of, ungrounded

LEAST_ROUND = timedelta(seconds=2)
"""With less time left of the request's, an answer is not corrected."""
MAX_EARLIER_CHARS = 8_000
"""Of the earlier answer, as the model is shown it again."""
CORRECTION = (
    "The figures, prices or dates under `ungrounded` of the earlier answer are in none of the texts above. Write the "
    "answer again: use figures of those texts only, as they stand there, and leave out the others. Write nothing about "
    "this correction."
)


async def grounded_answer(
    request: ModelRequest,
    answer: ModelAnswer,
    ask: Callable[[ModelRequest], Awaitable[ModelAnswer]] | None,
    mask: Callable[[str], Awaitable[str]],
) -> tuple[ModelAnswer, tuple[str, ...]]:
    """Return an answer, corrected if need be, and its figures that still come from none of the request's texts.

    Args:
        request: What was asked.
        answer: What came of it.
        ask: Asks for a corrected answer; None when there is to be none.
        mask: Replaces private values: in texts of a request they are replaced, so that one is known by its placeholder.

    Raises:
        ToolError: GUARDRAIL_BLOCKED when a guardrail stops the other round.
    """
    began, texts = time.monotonic(), texts_of(request)
    size = sum(map(len, texts))
    known = await off_loop(lambda: _figures(texts), size=size)
    missing = await _missing(answer, known, mask, size=size)
    left = request.timeout - timedelta(milliseconds=answer.latency_ms, seconds=time.monotonic() - began)
    if not missing or ask is None or left < LEAST_ROUND:
        return answer, missing
    try:
        again = await ask(replace(_corrective(request, answer, missing), timeout=left))
    except ToolError as error:
        if error.code is ErrorCode.GUARDRAIL_BLOCKED:
            raise
        return answer, missing  # no budget for another round, or no luck: there is an answer all the same
    still = await _missing(again, known, mask, size=size)
    better = again if len(still) < len(missing) else answer
    return replace(better, usage=answer.usage.plus(again.usage)), still if better is again else missing


def _corrective(request: ModelRequest, answer: ModelAnswer, missing: tuple[str, ...]) -> ModelRequest:
    earlier = fenced("earlier_answer", answer.text, limit=MAX_EARLIER_CHARS)
    return replace(
        request, user="\n\n".join([request.user, earlier, fenced_json("ungrounded", list(missing)), CORRECTION])
    )


async def _missing(
    answer: ModelAnswer, known: frozenset[str], mask: Callable[[str], Awaitable[str]], *, size: int
) -> tuple[str, ...]:
    """Return the figures of an answer that are not known; `size` is that of what they are known from."""
    try:
        text = await mask(answer.text)
    except ToolError:  # its private values cannot be kept for now: they are checked as they are
        text = answer.text
    return await off_loop(lambda: ungrounded(text, known), size=size + len(text))


def _figures(texts: list[str]) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(figures_of, texts)))
