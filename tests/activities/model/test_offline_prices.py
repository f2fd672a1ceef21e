from decimal import Decimal

import pytest

from activities.model.offline_prices import PriceBound, PriceWish, read_price_wish


@pytest.mark.parametrize(
    ("text", "ceiling", "floor"),
    [
        ("under 30 USD", ("30", False), None),
        ("at most 20 dollars", ("20", True), None),
        ("$25 or less", ("25", True), None),
        ("below 15", ("15", False), None),
        ("for free", ("0", True), None),
        ("between 10 and 20 dollars", ("20", True), ("10", True)),
        ("from 10 to 20 USD", ("20", True), ("10", True)),
        ("$10-$20", ("20", True), ("10", True)),
        ("10-20 USD", ("20", True), ("10", True)),
        ("less than $9.99", ("9.99", False), None),
        ("cheaper than 40 bucks", ("40", False), None),
        ("max 30", ("30", True), None),
        ("max. 30 euros", ("30", True), None),
        ("up to 1,000 dollars", ("1000", True), None),
        ("my budget is 35 dollars", ("35", True), None),
        ("a 30-dollar game", ("30", True), None),
        ("20$ tops", ("20", True), None),
        ("not more than 30", ("30", True), None),
        ("nothing over 30 USD", ("30", True), None),
        ("I don't want to pay more than 30 dollars", ("30", True), None),
        ("I can't spend over $50", ("50", True), None),
        ("not under 20 dollars", None, ("20", True)),
        ("at least 50 dollars", None, ("50", True)),
        ("over 25 USD", None, ("25", False)),
        ("more than 10 but less than 30 dollars", ("30", False), ("10", False)),
        ("$40+", None, ("40", True)),
        ("50 dollars or more", None, ("50", True)),
        ("under twenty-five dollars", ("25", False), None),
        ("under 40 dollars, better under 20 dollars", ("20", False), None),
        ("sessions under 30 minutes", None, None),
        ("under 2 hours a day", None, None),
        ("for 4 players", None, None),
        ("Baldur's Gate 3 or Civilization 6", None, None),
        ("stress-free", None, None),
        ("free of combat", None, None),
        ("more than 100 hours", None, None),
        ("the best game of 2020", None, None),
    ],
)
def test_reads_price_ranges(text: str, ceiling: tuple[str, bool] | None, floor: tuple[str, bool] | None) -> None:
    wish = read_price_wish(text)

    assert wish.ceiling == (PriceBound(Decimal(ceiling[0]), ceiling[1]) if ceiling else None)
    assert wish.floor == (PriceBound(Decimal(floor[0]), floor[1]) if floor else None)


@pytest.mark.parametrize("text", ["something cheap", "affordable fun", "on a budget"])
def test_hears_that_a_low_price_is_welcome(text: str) -> None:
    assert read_price_wish(text).is_cheap


def test_bounds_are_strict_where_the_text_is() -> None:
    below, most = read_price_wish("below 14.99"), read_price_wish("at most 14.99 USD")

    assert not below.allows(Decimal("14.99"))
    assert most.allows(Decimal("14.99"))
    assert not most.allows(Decimal("15.00"))


def test_says_the_range_in_words() -> None:
    wish = PriceWish(ceiling=PriceBound(Decimal(20), True), floor=PriceBound(Decimal(10), False))

    assert wish.describe() == ("at most 20 USD", "above 10 USD")
    assert read_price_wish("for free").describe() == ("free of charge",)
