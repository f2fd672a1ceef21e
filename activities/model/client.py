"""The worker's models: which one answers a request, by its role, the run's choice, and what failed before."""

from decimal import Decimal

from opentelemetry.trace import TracerProvider

from activities.model.cards import ModelCards
from activities.model.dialect import RefusalMemory
from activities.model.offline import OFFLINE_MODEL
from activities.model.pricing import PriceList
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.model.server import ModelServer
from activities.rate_gate import RateGate
from activities.settings import WorkerSettings
from harness.catalog import ModelCard
from harness.errors import ErrorCode, ToolError
from harness.model_choice import NO_CHOICE, ModelChoice, ModelRole
from harness.rate_limits import limit_of_models

FREE = Decimal(0)
OFFLINE_CARD = ModelCard(name=OFFLINE_MODEL, offline=True, input_token_usd=FREE, output_token_usd=FREE)


class OpenAIModel:
    """Answers model requests by one HTTP request each: retries are Temporal's. Close it when it is no longer used."""

    def __init__(
        self,
        settings: WorkerSettings,
        *,
        memory: RefusalMemory | None = None,
        gate: RateGate | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        """Create the clients; nothing is sent yet. Several models of one worker share what servers refused."""
        self._settings = settings
        self._gate = gate or RateGate()
        self._limit = limit_of_models(settings.model_rate)
        self._prices = PriceList(settings.base_url, settings.prices)
        self._fallback_prices = PriceList(settings.fallback_endpoint.base_url, settings.prices)
        shared = RefusalMemory() if memory is None else memory
        secrets = settings.secrets
        self._server = ModelServer(
            settings.endpoint, self._prices, shared, secrets=secrets, tracer_provider=tracer_provider
        )
        self._fallback = ModelServer(
            settings.fallback_endpoint, self._fallback_prices, shared, secrets=secrets, tracer_provider=tracer_provider
        )
        self.cards()  # loads the price data now rather than during the first call

    @property
    def rate(self) -> float | None:
        """Return how many requests a second the models take; None for any number."""
        return self._settings.model_rate

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()
        await self._fallback.close()

    def cards(self, choice: ModelChoice = NO_CHOICE) -> ModelCards:
        """Return the models of a run that asks for these.

        Raises:
            ModelError: AUTHENTICATION when only the offline model serves here, and another one is asked for.
        """
        if self._settings.is_offline:
            _refuse_real_models(choice)
            return ModelCards(OFFLINE_CARD)
        planner = self._card(ModelRole.PLANNER, choice)
        cards = {role: self._card(role, choice) for role in ModelRole}
        fallback = self._settings.fallback_name(choice)
        return ModelCards(
            planner,
            {role: card for role, card in cards.items() if card != planner},
            _priced(fallback, self._fallback_prices) if fallback else None,
        )

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer by the model of the request's role, or by the fallback once a provider has failed.

        Raises:
            ModelError: one that falls back when the provider failed and the fallback has not been asked.
        """
        if self._settings.is_offline:
            return await self._ask(self._server, OFFLINE_CARD, request)
        fallback = self._settings.fallback_name(request.models)
        if fallback and request.on_fallback:
            return await self._ask(self._fallback, _priced(fallback, self._fallback_prices), request)
        try:
            return await self._ask(self._server, self._card(request.role, request.models), request)
        except ModelError as error:
            error.falls_back = bool(fallback) and error.is_providers
            raise

    async def _ask(self, server: ModelServer, card: ModelCard, request: ModelRequest) -> ModelAnswer:
        """Ask a server when the rate limit allows it, and what the server has asked for."""
        name = f"{card.name} of {server.name}"  # servers limit each model by itself, so a fallback need not wait
        if not self._gate.is_open(name, self._limit):
            await self._enter(name, request)
        try:
            answer = await server.ask(card, request)
        except ModelError as error:
            self._gate.pause(name, error)
            raise
        self._gate.end_pause(name)
        return answer

    async def _enter(self, name: str, request: ModelRequest) -> None:
        try:
            await self._gate.enter(name, self._limit, most_s=request.timeout.total_seconds())
        except ToolError as error:
            raise ModelError(error.code, error.message, retry_after_s=error.retry_after_s, is_providers=True) from None

    def _card(self, role: ModelRole, choice: ModelChoice) -> ModelCard:
        return _priced(self._settings.model_name(role, choice), self._prices)


def _priced(name: str, prices: PriceList) -> ModelCard:
    known = prices.token_prices(name)
    return ModelCard(
        name=name,
        input_token_usd=known.input_usd if known else None,
        output_token_usd=known.output_usd if known else None,
    )


def _refuse_real_models(choice: ModelChoice) -> None:
    asked = {*choice.by_role.values(), *filter(None, [choice.fallback])} - {OFFLINE_MODEL}
    if asked:
        raise ModelError(
            ErrorCode.AUTHENTICATION,
            f"the run asks for {', '.join(map(repr, sorted(asked)))}, but its worker has neither key nor server and "
            "serves the offline model only; set OPENAI_API_KEY or OPENAI_BASE_URL, or ask for no model",
        )
