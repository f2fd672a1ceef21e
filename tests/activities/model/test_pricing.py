import subprocess
import sys
from decimal import Decimal

from activities.model.client import model_card
from activities.model.pricing import TokenPrices, call_cost_usd, token_prices
from activities.settings import WorkerSettings


def test_knows_the_default_model() -> None:
    assert token_prices("gpt-4.1-mini", "") == TokenPrices(Decimal("4E-7"), Decimal("0.0000016"))
    assert call_cost_usd("gpt-4.1-mini", "", input_tokens=1000, output_tokens=100) == Decimal("0.00056")


def test_cached_prompt_tokens_cost_less() -> None:
    full = call_cost_usd("gpt-4.1-mini", "", input_tokens=1000, output_tokens=0)
    cached = call_cost_usd("gpt-4.1-mini", "", input_tokens=1000, output_tokens=0, cached_tokens=1000)

    assert full is not None
    assert cached is not None
    assert 0 < cached < full


def test_a_gateway_is_charged_the_price_of_its_model() -> None:
    assert token_prices("gpt-4.1-mini", "http://127.0.0.1:8000/v1") == token_prices("gpt-4.1-mini", "")


def test_an_unknown_model_has_no_price() -> None:
    assert token_prices("home-made-7b", "") is None
    assert call_cost_usd("home-made-7b", "http://127.0.0.1:1/v1", input_tokens=1, output_tokens=1) is None


def test_the_card_of_a_model_says_name_and_prices() -> None:
    card = model_card(WorkerSettings(api_key="sk-x"))

    assert (card.name, card.offline) == ("gpt-4.1-mini", False)
    assert card.input_token_usd == Decimal("4E-7")


def test_the_card_of_the_offline_model_says_that_it_costs_nothing() -> None:
    card = model_card(WorkerSettings())

    assert (card.name, card.offline) == ("offline", True)
    assert card.input_token_usd == 0
    assert card.output_token_usd == 0


def test_the_card_of_an_unknown_model_does_not_call_it_free() -> None:
    card = model_card(WorkerSettings(api_key="none", base_url="http://127.0.0.1:1/v1", model="small"))

    assert card.input_token_usd is None
    assert card.output_token_usd is None


def test_offline_never_loads_the_price_data() -> None:
    code = (
        "import sys; from activities.model.client import OpenAIModel; from activities.settings import WorkerSettings; "
        "OpenAIModel(WorkerSettings()); sys.exit('genai_prices' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
