import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from activities.model.client import OpenAIModel
from activities.model.price_file import ModelPrice, read_prices
from activities.model.pricing import PriceList, TokenPrices
from activities.model.token_counts import TokenCounts
from activities.settings import WorkerSettings
from harness.errors import ErrorCode, ToolError
from harness.model_choice import ModelChoice, ModelRole

OPENAI = PriceList("")
THOUSAND = TokenCounts(input_tokens=1000, output_tokens=0)
LOCAL = "http://127.0.0.1:1/v1"
JSON_PRICES = """
{"small": {"input_usd_per_million": 0.15, "output_usd_per_million": "0.6", "cached_input_usd_per_million": 0.015}}
"""
TOML_PRICES = """
["small"]
input_usd_per_million = 0.15
output_usd_per_million = "0.6"
cached_input_usd_per_million = 0.015
"""
OWN = ModelPrice(
    input_usd_per_million=Decimal("0.15"),
    output_usd_per_million=Decimal("0.6"),
    cached_input_usd_per_million=Decimal("0.015"),
)


def test_knows_the_default_model() -> None:
    assert OPENAI.token_prices("gpt-4.1-mini") == TokenPrices(Decimal("4E-7"), Decimal("0.0000016"))
    assert OPENAI.call_cost_usd("gpt-4.1-mini", TokenCounts(1000, 100)) == Decimal("0.00056")


def test_cached_prompt_tokens_have_their_own_price() -> None:
    half_cached = TokenCounts(input_tokens=1000, output_tokens=0, cached_tokens=500)

    assert OPENAI.call_cost_usd("gpt-4.1-mini", THOUSAND) == Decimal("0.0004")
    assert OPENAI.call_cost_usd("gpt-4.1-mini", half_cached) == Decimal("0.00025")


def test_more_cached_than_prompt_tokens_are_taken_for_a_mistake() -> None:
    absurd = TokenCounts(input_tokens=1000, output_tokens=0, cached_tokens=5000)

    assert OPENAI.call_cost_usd("gpt-4.1-mini", absurd) == Decimal("0.0001")


def test_a_gateway_is_charged_the_price_of_its_model() -> None:
    assert PriceList("http://127.0.0.1:8000/v1").token_prices("gpt-4.1-mini") == OPENAI.token_prices("gpt-4.1-mini")


def test_an_unknown_model_has_no_price() -> None:
    assert OPENAI.token_prices("home-made-7b") is None
    assert PriceList(LOCAL).call_cost_usd("home-made-7b", THOUSAND) is None


def test_own_prices_go_before_all_others() -> None:
    prices = PriceList("", {"gpt-4.1-mini": OWN, "home-made-7b": OWN})
    counts = TokenCounts(input_tokens=1000, output_tokens=100, cached_tokens=400)

    assert prices.token_prices("home-made-7b") == TokenPrices(Decimal("1.5E-7"), Decimal("6E-7"))
    assert prices.call_cost_usd("gpt-4.1-mini", counts) == Decimal("0.000156")


def test_without_a_price_of_their_own_cached_tokens_cost_as_much_as_others() -> None:
    price = OWN.model_copy(update={"cached_input_usd_per_million": None})

    assert price.cost_usd(input_tokens=1000, output_tokens=0, cached_tokens=400) == (Decimal("0.00015"), 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "prices.json",
            JSON_PRICES,
        ),
        (
            "prices.toml",
            TOML_PRICES,
        ),
    ],
)
def test_reads_a_price_file_without_going_through_float(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    assert read_prices(tmp_path / name) == {"small": OWN}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("absent.json", None, "cannot be read: No such file"),
        ("prices.json", "{", "is no json file"),
        ("prices.toml", "[a", "is no toml file"),
        ("prices.json", "[1]", "the file: Input should be a valid dictionary"),
        ("prices.json", '{"a": {"input_usd_per_million": 1}}', "a.output_usd_per_million: Field required"),
        ("prices.json", '{"a": {"input_usd_per_million": -1, "output_usd_per_million": 1}}', "greater than or equal"),
        ("prices.json", '{"a": {"input_usd_per_million": NaN, "output_usd_per_million": 1}}', "finite number"),
        ("prices.json", '{"a": {"input": 1}}', "Extra inputs are not permitted"),
        ("prices.json", '{"a": {}, "b": {}, "c": {}}', "and 3 more"),
        ("prices.toml", "[gpt-4.1-mini]\ninput_usd_per_million = 1\n", "gpt-4."),
        ("prices.json", "\udcff", "is no UTF-8 text"),
    ],
)
def test_a_bad_price_file_is_named_in_one_line(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))

    with pytest.raises(ValueError, match=name) as caught:
        read_prices(tmp_path / name)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_cards_of_a_worker_say_name_and_prices() -> None:
    cards = OpenAIModel(WorkerSettings(api_key="sk-x")).cards()

    assert (cards.planner.name, cards.planner.offline) == ("gpt-4.1-mini", False)
    assert cards.planner.input_token_usd == Decimal("4E-7")
    assert not cards.by_role
    assert cards.fallback is None


def test_the_card_of_the_offline_model_says_that_it_costs_nothing() -> None:
    card = OpenAIModel(WorkerSettings()).cards().planner

    assert (card.name, card.offline) == ("offline", True)
    assert card.input_token_usd == 0
    assert card.output_token_usd == 0


def test_the_card_of_an_unknown_model_does_not_call_it_free() -> None:
    card = OpenAIModel(WorkerSettings(api_key="none", base_url=LOCAL, model="small")).cards().planner

    assert card.input_token_usd is None
    assert card.output_token_usd is None


def test_the_models_of_a_run_go_before_those_of_the_worker() -> None:
    settings = WorkerSettings(api_key="sk-x", role_models={ModelRole.JUDGE: "gpt-4.1"}, fallback_model="gpt-4o-mini")
    choice = ModelChoice(by_role={ModelRole.SYNTHESIS: "gpt-4o"}, fallback="gpt-4.1-nano")

    cards = OpenAIModel(settings).cards(choice)

    assert cards.planner.name == "gpt-4.1-mini"
    assert {role: card.name for role, card in cards.by_role.items()} == {"synthesis": "gpt-4o", "judge": "gpt-4.1"}
    assert cards.fallback is not None
    assert cards.fallback.name == "gpt-4.1-nano"


def test_a_worker_without_key_and_server_refuses_to_pass_the_offline_model_for_another_one() -> None:
    offline = OpenAIModel(WorkerSettings(fallback_model="gpt-4.1"))

    with pytest.raises(ToolError, match="asks for 'gpt-4o', but its worker has neither key nor server") as caught:
        offline.cards(ModelChoice(by_role={ModelRole.JUDGE: "gpt-4o"}))

    assert caught.value.code is ErrorCode.AUTHENTICATION
    assert offline.cards(ModelChoice(by_role={ModelRole.JUDGE: "offline"})).planner.offline


def test_offline_never_loads_the_price_data() -> None:
    code = (
        "import sys; from activities.model.client import OpenAIModel; from activities.settings import WorkerSettings; "
        "OpenAIModel(WorkerSettings()); sys.exit('genai_prices' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
