from decimal import Decimal

import pytest
from pydantic import JsonValue

from activities.toolkits.games_check import check_report
from activities.toolkits.games_data import GAMES, PRICES

RESULTS: dict[str, JsonValue] = {
    "get_games": [game.model_dump(mode="json") for game in GAMES],
    "get_prices": [price.model_dump(mode="json") for price in PRICES],
}
GOAL = "a calm game under 30 USD"


def _reasons(text: str, *, goal: str = GOAL, results: dict[str, JsonValue] | None = None) -> tuple[str, ...]:
    return check_report(goal, {"report": text}, RESULTS if results is None else results).reasons


@pytest.mark.parametrize(
    "text",
    [
        "Outer Wilds ($24.99) is calm.",
        "Outer Wilds costs 24.99 USD, well under 30 USD.",
        "Try **Stardew Valley** - $14.99.\n2. Outer Wilds \u2013 US$24.99",
        "For $14.99 you get Stardew Valley.",
        "Prices: Stardew Valley $14.99, Outer Wilds $24.99, Baldur\u2019s Gate 3 $59.99.",
        "STARDEW VALLEY at 14.99 dollars.",
        "Hades, rated 9/10 by 3 friends, 24.99 USD.",
        "Stardew Valley suits you.",
        "Nothing in the catalogue fits under 30 USD.",
        "None of these games fits.",
        "No game in the catalogue matches this wish.",
        "With 30 dollars you can have Outer Wilds.",
    ],
)
def test_passes_true_prices_and_figures_of_the_goal(text: str) -> None:
    assert not _reasons(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Outer Wilds costs $19.99.", "'$19.99' is not that of the game named beside it (Outer Wilds costs 24.99)"),
        ("Outer Wilds costs $14.99.", "'$14.99' is not that of the game"),
        ("Outer Wilds and Stardew Valley together are 39.98 USD.", "39.98 USD"),
        ("Outer Wilds, now 50.00", "'50.00'"),
        ("Outer Wilds for EUR 20", "'EUR 20'"),
        ("It is 12 dollars cheaper. Play Hades.", "'12 dollars'"),
        ("Only 9.99!\n\nHades is fun.", "stands near no game"),
        ("Play Halo, it is great.", "names no game"),
        ("", "names no game"),
    ],
)
def test_rejects_invented_prices_and_reports_without_a_known_game(text: str, said: str) -> None:
    reasons = _reasons(text)

    assert any(said in reason for reason in reasons), reasons


def test_gives_all_reasons_at_once() -> None:
    assert len(_reasons("Hades is $1.00, Outer Wilds is $2.00 and Stardew Valley is $3.00.")) == 3


def test_spelled_figures_of_the_goal_count() -> None:
    assert not _reasons("Outer Wilds keeps within 30 USD.", goal="at most thirty dollars")


def test_without_results_nothing_can_be_confirmed() -> None:
    assert len(_reasons("Outer Wilds costs $24.99.", results={})) == 2


@pytest.mark.parametrize("report", [None, "text", [], {}, {"report": 3}])
def test_what_is_no_report_is_rejected(report: JsonValue) -> None:
    assert check_report(GOAL, report, RESULTS).outcome == "REJECTED"


def test_results_of_a_tool_that_was_called_twice_are_taken_together() -> None:
    twice: dict[str, JsonValue] = {name: [rows, rows] for name, rows in RESULTS.items()}

    assert not _reasons("Outer Wilds costs $24.99.", results=twice)


def test_the_data_is_that_of_the_reference() -> None:
    assert {price.title: price.price for price in PRICES} == {
        "Outer Wilds": Decimal("24.99"),
        "Stardew Valley": Decimal("14.99"),
        "Baldur's Gate 3": Decimal("59.99"),
        "Civilization VI": Decimal("29.99"),
        "Hades": Decimal("24.99"),
    }
    assert [game.title for game in GAMES] == [price.title for price in PRICES]
