"""Pricing: what a call costs, by the price data that the genai-prices package carries. No network."""

from dataclasses import dataclass
from decimal import Decimal

TYPICAL_TOKENS = 1000
"""Some prices rise with the length of the prompt; this is the length for which a model card quotes them."""


@dataclass(frozen=True)
class TokenPrices:
    """Prices of one token in USD."""

    input_usd: Decimal
    output_usd: Decimal


def call_cost_usd(
    model: str, base_url: str, *, input_tokens: int, output_tokens: int, cached_tokens: int = 0
) -> Decimal | None:
    """Return the cost of a call, or None when nobody knows the price of the model."""
    costs = _costs(model, base_url, input_tokens, output_tokens, cached_tokens)
    return None if costs is None else costs[0] + costs[1]


def token_prices(model: str, base_url: str) -> TokenPrices | None:
    """Return the prices of one token, or None when nobody knows them."""
    costs = _costs(model, base_url, TYPICAL_TOKENS, TYPICAL_TOKENS, 0)
    return None if costs is None else TokenPrices(costs[0] / TYPICAL_TOKENS, costs[1] / TYPICAL_TOKENS)


def _costs(
    model: str, base_url: str, input_tokens: int, output_tokens: int, cached_tokens: int
) -> tuple[Decimal, Decimal] | None:
    """Ask for the server's own price, and behind an unknown address for the price that the model has anywhere."""
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - its data takes time to load and offline never needs it

    usage = Usage(
        input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=min(cached_tokens, input_tokens)
    )
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
