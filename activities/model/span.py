"""Spans of model requests, by OpenTelemetry's conventions for generative AI. No prompt, no answer, no secret."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from activities.model.request import ModelAnswer, ModelError, ModelRequest
from harness.catalog import ModelCard
from harness.usage import Usage

INSTRUMENTATION = "whippletree"
OFFLINE_PROVIDER = "whippletree.offline"


@contextmanager
def model_span(tracer: Tracer, card: ModelCard, request: ModelRequest) -> Iterator[Span]:
    """Make one span of one request; how it failed is its error.type."""
    attributes: dict[str, str | int] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": OFFLINE_PROVIDER if card.offline else "openai",
        "gen_ai.request.model": card.name,
        "gen_ai.request.max_tokens": request.max_output_tokens,
    }
    if request.tools:
        attributes["whippletree.tools_offered"] = len(request.tools)
    with tracer.start_as_current_span(
        f"chat {card.name}",
        kind=SpanKind.CLIENT,
        attributes=attributes,
        # An exception's text and stack may quote what the server said about the key.
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except ModelError as error:
            record_usage(span, error.usage)
            record_failure(span, error.code.value)
            raise
        except asyncio.CancelledError:
            record_failure(span, "cancelled")
            raise


def record_answer(span: Span, answer: ModelAnswer) -> None:
    """Note who answered, why the answer ended, what it used, and how many tool calls it has."""
    record_usage(span, answer.usage)
    if answer.model:
        span.set_attribute("gen_ai.response.model", answer.model)
    if answer.finish_reason:
        span.set_attribute("gen_ai.response.finish_reasons", (answer.finish_reason,))
    if answer.calls:
        span.set_attribute("whippletree.tool_calls", len(answer.calls))


def record_usage(span: Span, usage: Usage) -> None:
    """Note what a request used."""
    if usage.model:
        span.set_attribute("gen_ai.usage.input_tokens", usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", usage.output_tokens)
    if usage.cached_tokens:
        span.set_attribute("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens)
    if usage.reasoning_tokens:
        span.set_attribute("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens)


def record_failure(span: Span, error_type: str) -> None:
    """Note how a request failed."""
    span.set_attribute("error.type", error_type)
    span.set_status(Status(StatusCode.ERROR, error_type))
