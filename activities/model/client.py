"""The model client: chat completions of any OpenAI-compatible server, the offline model included."""

import asyncio
import base64
from decimal import Decimal
from typing import Any

import httpx2
from openai import AsyncOpenAI
from opentelemetry import trace
from opentelemetry.trace import Span, TracerProvider

from activities.model.completion import Reader
from activities.model.dialect import Dialect, LimitParameter
from activities.model.failures import CLIENT_ERRORS, as_model_error, refusal_text
from activities.model.offline import OFFLINE_MODEL, offline_http_client
from activities.model.pricing import token_prices
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.model.span import INSTRUMENTATION, model_span, record_failure, record_usage
from activities.settings import NO_KEY, WorkerSettings
from harness.catalog import ModelCard
from harness.errors import ErrorCode

FREE = Decimal(0)
OFFLINE_URL = "http://offline.invalid/v1"
"""Never resolved: the offline transport answers every request in the process."""
CONNECT_LIMIT_S = 10.0


def model_card(settings: WorkerSettings) -> ModelCard:
    """Return name and prices of the model that the settings choose. The offline model costs nothing."""
    if settings.is_offline:
        return ModelCard(name=OFFLINE_MODEL, offline=True, input_token_usd=FREE, output_token_usd=FREE)
    prices = token_prices(settings.model, settings.base_url)
    return ModelCard(
        name=settings.model,
        input_token_usd=prices.input_usd if prices else None,
        output_token_usd=prices.output_usd if prices else None,
    )


class OpenAIModel:
    """Answers model requests by one HTTP request each: retries are Temporal's. Close it when it is no longer used."""

    def __init__(self, settings: WorkerSettings, *, tracer_provider: TracerProvider | None = None) -> None:
        """Create the client; nothing is sent yet."""
        self.card = model_card(settings)
        self._secrets = settings.secrets
        self._client = _client(settings)
        self._reader = Reader(self.card, settings.base_url)
        self._tracer = trace.get_tracer(INSTRUMENTATION, tracer_provider=tracer_provider)
        # Servers other than OpenAI may know the old name only, and ignore the limit under the new one.
        limit = LimitParameter.MAX_TOKENS if settings.base_url else LimitParameter.MAX_COMPLETION_TOKENS
        self._dialect = Dialect(limit=limit)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer, or raise ModelError. Sent again, in plainer form, is only what a server refused for its form."""
        deadline = asyncio.get_running_loop().time() + request.timeout.total_seconds()
        dialect = self._dialect
        while True:  # ends: each dialect knows less than the one before
            outcome = await self._exchange(request, dialect, deadline)
            if isinstance(outcome, ModelAnswer):
                return outcome
            self._dialect = dialect = outcome

    async def _exchange(self, request: ModelRequest, dialect: Dialect, deadline: float) -> ModelAnswer | Dialect:
        """Send one HTTP request; return the answer, or the dialect that the server may understand instead."""
        body = dialect.body(request, self.card.name)
        with model_span(self._tracer, self.card, request) as span:
            try:
                completion = await self._post(body, deadline)
            except CLIENT_ERRORS as error:
                plainer = dialect.after_refusal(refusal_text(error, secrets=self._secrets), request)
                if plainer is None:
                    raise self._failure(error, request) from None
                record_failure(span, "unsupported_parameter")
                return plainer
            return self._read(completion, request, span)

    async def _post(self, body: dict[str, Any], deadline: float) -> object:
        # Leaving the timeout, like a cancellation from outside, closes the connection.
        async with asyncio.timeout_at(deadline):
            completion: object = await self._client.chat.completions.create(**body)
            return completion

    def _read(self, completion: object, request: ModelRequest, span: Span) -> ModelAnswer:
        answer = self._reader.read(completion, request)
        record_usage(span, answer.usage)
        response_model = getattr(completion, "model", None)
        if isinstance(response_model, str):
            span.set_attribute("gen_ai.response.model", response_model)
        return answer

    def _failure(self, error: Exception, request: ModelRequest) -> ModelError:
        failure = as_model_error(error, secrets=self._secrets)
        if failure.code is ErrorCode.TIMEOUT:
            # The prompt was on its way, and a provider bills it whether or not anybody waits for the answer.
            failure.usage = self._reader.lost(request)
        return failure


def _client(settings: WorkerSettings) -> AsyncOpenAI:
    headers = {}
    if settings.user or settings.password:
        pair = base64.b64encode(f"{settings.user}:{settings.password}".encode()).decode()
        headers["Authorization"] = f"Basic {pair}"
    return AsyncOpenAI(
        api_key=settings.api_key or NO_KEY,
        base_url=OFFLINE_URL if settings.is_offline else settings.base_url or "https://api.openai.com/v1",
        max_retries=0,
        # The whole call has its own limit; this one only keeps a dead address from using all of it.
        timeout=httpx2.Timeout(None, connect=CONNECT_LIMIT_S),
        default_headers=headers,
        http_client=offline_http_client() if settings.is_offline else None,
    )
