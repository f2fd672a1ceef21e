"""A model server: chat completions by HTTP, in the dialect that the server understands."""

import asyncio
import base64
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient
from opentelemetry import trace
from opentelemetry.trace import TracerProvider

from activities.model.completion import Reader
from activities.model.dialect import Dialect, Feature, RefusalMemory
from activities.model.failures import CLIENT_ERRORS, as_model_error, refusal_of
from activities.model.offline import offline_http_client
from activities.model.pricing import PriceList
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.model.span import INSTRUMENTATION, model_span, record_answer, record_failure
from activities.settings import NO_KEY, SHORTEST_SECRET, Endpoint
from harness.catalog import ModelCard
from harness.errors import ErrorClass, ErrorCode, classify

OPENAI_URL = "https://api.openai.com/v1"
OFFLINE_URL = "http://offline.invalid/v1"
"""Never resolved: the offline transport answers every request in the process."""
CONNECT_LIMIT_S = 10.0


@dataclass(frozen=True)
class _Call:
    """One model call, which takes more than one HTTP request only while the server refuses its form."""

    reader: Reader
    request: ModelRequest
    deadline: float
    """Time of the event loop."""
    refused: set[Feature] = field(default_factory=set)


class ModelServer:
    """Answers by one HTTP request each: retries are Temporal's. Close it when it is no longer used."""

    def __init__(
        self,
        endpoint: Endpoint,
        prices: PriceList,
        memory: RefusalMemory,
        *,
        secrets: tuple[str, ...],
        tracer_provider: TracerProvider | None,
    ) -> None:
        """Create the client; nothing is sent yet."""
        self.name = f"{urlsplit(endpoint.base_url or OPENAI_URL).netloc}"
        self._base_url = endpoint.base_url
        self._prices = prices
        self._memory = memory
        self._secrets = secrets
        # A shorter key, such as "x" for a server that checks none, is a word of many answers.
        self._echoes = tuple(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)
        self._client = _client(endpoint)
        self._tracer = trace.get_tracer(INSTRUMENTATION, tracer_provider=tracer_provider)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, card: ModelCard, request: ModelRequest) -> ModelAnswer:
        """Answer, or raise ModelError. Sent again, in plainer form, is only what the server refused for its form."""
        deadline = asyncio.get_running_loop().time() + request.timeout.total_seconds()
        call = _Call(Reader(card, self._prices, self._echoes), request, deadline)
        try:
            answer = await self._exchange_all(call)
        except ModelError as error:
            # What is refused in every form was not refused for its form.
            if classify(error.code) is not ErrorClass.FATAL:
                self._learn(call)
            raise
        self._learn(call)
        return answer

    async def _exchange_all(self, call: _Call) -> ModelAnswer:
        dialect = self._memory.dialect(call.reader.card.name, self._base_url)
        while True:  # ends: each dialect does without one feature more
            outcome = await self._exchange(call, dialect)
            if isinstance(outcome, ModelAnswer):
                return outcome
            call.refused.add(outcome)
            dialect = dialect.without(outcome)

    def _learn(self, call: _Call) -> None:
        if call.refused:
            self._memory.learn(call.reader.card.name, self._base_url, frozenset(call.refused))

    async def _exchange(self, call: _Call, dialect: Dialect) -> ModelAnswer | Feature:
        """Send one HTTP request; return the answer, or the feature that the server refused."""
        card, request, sent_at = call.reader.card, dialect.form(call.request), monotonic()
        with model_span(self._tracer, card, request) as span:
            try:
                completion = await self._post(dialect.body(request, card.name), call.deadline)
                answer = call.reader.read(completion, request, latency_ms=round((monotonic() - sent_at) * 1000))
            except CLIENT_ERRORS as error:
                refusal = refusal_of(error, secrets=self._secrets)
                refused = dialect.refused_by(refusal, request) if refusal else None
                if refused is None:
                    raise self._failure(error, call) from None
                record_failure(span, "unsupported_parameter")
                return refused
            record_answer(span, answer)
            return answer

    async def _post(self, body: dict[str, Any], deadline: float) -> object:
        # Leaving the timeout, like a cancellation from outside, closes the connection.
        async with asyncio.timeout_at(deadline):
            completion: object = await self._client.chat.completions.create(**body)
            return completion

    def _failure(self, error: Exception, call: _Call) -> ModelError:
        failure = as_model_error(error, secrets=self._secrets, limit=call.request.timeout)
        if failure.code is ErrorCode.TIMEOUT and not isinstance(error, APIStatusError):
            # The prompt was on its way, and a provider bills it whether or not anybody waits for the answer.
            failure.usage = call.reader.lost(call.request)
        return failure


def _client(endpoint: Endpoint) -> AsyncOpenAI:
    headers = {}
    if endpoint.user or endpoint.password:
        pair = base64.b64encode(f"{endpoint.user}:{endpoint.password}".encode()).decode()
        headers["Authorization"] = f"Basic {pair}"
    return AsyncOpenAI(
        api_key=endpoint.api_key or NO_KEY,
        base_url=OFFLINE_URL if endpoint.is_offline else endpoint.base_url or OPENAI_URL,
        max_retries=0,
        # The whole call has its own limit; this one only keeps a dead address from using all of it.
        timeout=httpx2.Timeout(None, connect=CONNECT_LIMIT_S),
        default_headers=headers,
        # A redirect may lead anywhere, one request after the other: the base URL is to name the right place.
        http_client=offline_http_client() if endpoint.is_offline else DefaultAsyncHttpxClient(follow_redirects=False),
    )
