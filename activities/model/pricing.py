"""Pricing: what a call costs, by the operator's price file, else by the data that genai-prices carries. No network."""

from dataclasses import dataclass, field
from decimal import Decimal

from activities.model.price_file import Prices
from activities.model.token_counts import TokenCounts

TYPICAL = TokenCounts(input_tokens=1000, output_tokens=1000)
"""Some prices rise with the length of the prompt; this is the length for which a model card quotes them."""


@dataclass(frozen=True)
class TokenPrices:
    """Prices of one token in USD."""

    input_usd: Decimal
    output_usd: Decimal


@dataclass(frozen=True)
class PriceList:
    """The prices of the models of one server."""

    base_url: str
    """Empty for OpenAI itself."""
    own: Prices = field(default_factory=dict)
    """The operator's prices, which go before all others."""

    def call_cost_usd(self, model: str, counts: TokenCounts) -> Decimal | None:
        """Return the cost of a call, or None when nobody knows the price of the model."""
        costs = self._costs(model, counts)
        return None if costs is None else costs[0] + costs[1]

    def token_prices(self, model: str) -> TokenPrices | None:
        """Return the prices of one token that is not cached, or None when nobody knows them."""
        costs = self._costs(model, TYPICAL)
        if costs is None:
            return None
        return TokenPrices(costs[0] / TYPICAL.input_tokens, costs[1] / TYPICAL.output_tokens)

    def _costs(self, model: str, counts: TokenCounts) -> tuple[Decimal, Decimal] | None:
        cached = min(counts.cached_tokens, counts.input_tokens)
        if own := self.own.get(model):
            return own.cost_usd(
                input_tokens=counts.input_tokens, output_tokens=counts.output_tokens, cached_tokens=cached
            )
        return _packaged_costs(model, self.base_url, counts.input_tokens, counts.output_tokens, cached)


def _packaged_costs(
    model: str, base_url: str, input_tokens: int, output_tokens: int, cached_tokens: int
) -> tuple[Decimal, Decimal] | None:
    """Ask for the server's own price, and behind an unknown address for the price that the model has anywhere."""
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - its data takes time to load and offline never needs it

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
    if base_url:
        try:
            price = calc_price(usage, model, provider_api_url=base_url)
        except LookupError:
            pass  # a gateway or a local server: its model may still have a price elsewhere
        else:
            return price.input_price, price.output_price
    try:
        price = calc_price(usage, model, provider_id=None if base_url else "openai")
    except LookupError:
        return None
    return price.input_price, price.output_price
