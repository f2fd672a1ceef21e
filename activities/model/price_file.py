"""The operator's own prices: a small JSON or TOML file, which goes before the prices of genai-prices.

{"my-model": {"input_usd_per_million": 0.15, "output_usd_per_million": 0.6, "cached_input_usd_per_million": 0.02}}
"""

import json
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MILLION = 1_000_000
MAX_SHOWN = 3
"""Most findings that a message names."""


class ModelPrice(BaseModel):
    """What a model costs, in USD for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_usd_per_million: Decimal = Field(ge=0, allow_inf_nan=False)
    output_usd_per_million: Decimal = Field(ge=0, allow_inf_nan=False)
    cached_input_usd_per_million: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Prompt tokens from a cache; None means that they cost as much as others."""

    def cost_usd(self, *, input_tokens: int, output_tokens: int, cached_tokens: int) -> tuple[Decimal, Decimal]:
        """Return the cost of the prompt and of the output."""
        cached_price = self.cached_input_usd_per_million
        if cached_price is None:
            cached_price = self.input_usd_per_million
        fresh = input_tokens - cached_tokens
        prompt = fresh * self.input_usd_per_million + cached_tokens * cached_price
        return prompt / MILLION, output_tokens * self.output_usd_per_million / MILLION


Prices = Mapping[str, ModelPrice]
"""Prices by the exact name of a model."""

_PRICES = TypeAdapter(dict[str, ModelPrice])


def read_prices(path: Path) -> Prices:
    """Read a price file; its name tells its format, TOML with .toml and JSON without.

    Raises:
        ValueError: saying in one line what is wrong with the file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{str(path)!r} is no UTF-8 text") from None
    try:
        # Never through float: a price must stay what is written.
        if path.suffix.lower() == ".toml":
            values = tomllib.loads(text, parse_float=Decimal)
        else:
            values = json.loads(text, parse_float=Decimal)
        return _PRICES.validate_python(values)
    except ValidationError as error:
        raise ValueError(f"{str(path)!r} is no table of prices: {_describe(error)}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is no {path.suffix.lstrip('.') or 'json'} file: {error}") from None


def _describe(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [f"{'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}" for each in details[:MAX_SHOWN]]
    more = [f"and {len(details) - MAX_SHOWN} more"] if len(details) > MAX_SHOWN else []
    return "; ".join(shown + more)
