from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.budget import (
    MOST_COST_USD,
    MOST_TOKENS,
    MOST_TOOL_CALLS,
    MOST_WALL_CLOCK,
    NOTHING,
    ONE_CALL,
    Amount,
    Budget,
    Extension,
    Ledger,
    Limits,
)
from harness.usage import Usage

NO_TIME = timedelta(0)


def limits(tokens: int = 100, calls: int = 10, seconds: int = 60, cost: str = "1.00") -> Limits:
    return Limits(
        max_tokens=tokens, max_tool_calls=calls, max_wall_clock=timedelta(seconds=seconds), max_cost_usd=Decimal(cost)
    )


def spent(tokens: int = 0, calls: int = 0, cost: str = "0") -> Ledger:
    return Ledger(spent=Amount(tokens=tokens, tool_calls=calls, cost_usd=Decimal(cost)))


def usage(tokens_in: int = 0, tokens_out: int = 0, cost: str | None = "0") -> Usage:
    price = None if cost is None else Decimal(cost)
    return Usage(model="m", input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=price)


@pytest.mark.parametrize(
    ("budget", "elapsed", "pressure"),
    [
        (Budget(limits(), spent(tokens=30, calls=8, cost="0.25")), 0, 0.8),
        (Budget(limits(seconds=10), spent(tokens=1)), 7, 0.7),
        (Budget(limits(cost="2.00"), spent(cost="1.50")), 0, 0.75),
        (Budget(limits(calls=4), spent(calls=4)), 0, 1.0),
        (Budget(limits(), spent(tokens=100)), 0, 1.0),
        (Budget(limits(), spent(tokens=150)), 0, 1.5),
        (Budget(limits()), -5, 0.0),
    ],
    ids=[
        "most used",
        "wall clock",
        "cost",
        "calls at the limit",
        "tokens at the limit",
        "overspent",
        "clock went back",
    ],
)
def test_pressure_is_the_highest_utilisation(budget: Budget, elapsed: int, pressure: float) -> None:
    assert budget.pressure(timedelta(seconds=elapsed)) == pytest.approx(pressure)


def test_pressure_keeps_small_differences_and_short_limits() -> None:
    assert Budget(limits(cost="0.25"), spent(cost="0.2499999999")).pressure(NO_TIME) < 1
    short = Limits(max_wall_clock=timedelta(microseconds=1))
    assert Budget(short).pressure(NO_TIME) == 0


@pytest.mark.parametrize(("tokens", "is_high"), [(89, False), (90, True), (95, True)])
def test_pressure_is_high_from_nine_tenths(tokens: int, *, is_high: bool) -> None:
    assert Budget(limits(), spent(tokens=tokens)).is_high(NO_TIME) is is_high


def test_reserves_exactly_up_to_the_limit() -> None:
    budget = Budget(limits(calls=1))

    assert budget.reserve(ONE_CALL)
    assert not budget.reserve(ONE_CALL)
    assert budget.left().tool_calls == 0


@pytest.mark.parametrize(
    "amount",
    [Amount(tokens=41), Amount(tool_calls=6), Amount(cost_usd=Decimal("0.51")), Amount(tokens=1, tool_calls=6)],
)
def test_refuses_what_does_not_fit_beside_what_is_spent_and_reserved(amount: Amount) -> None:
    budget = Budget(limits(), spent(tokens=50, calls=3, cost="0.25"))
    assert budget.reserve(Amount(tokens=10, tool_calls=2, cost_usd=Decimal("0.25")))
    before = budget.reserved

    assert not budget.reserve(amount)
    assert budget.reserved == before


def test_accepted_work_keeps_its_result_at_exactly_the_limit() -> None:
    budget = Budget(limits(calls=1))
    budget.reserve(ONE_CALL)

    budget.settle(ONE_CALL, tool_calls=1, usage=usage(60, 40, "1.00"))

    assert budget.pressure(NO_TIME) == 1.0
    assert budget.ledger.spent == Amount(tokens=100, tool_calls=1, cost_usd=Decimal("1.00"))
    assert budget.reserve(NOTHING)
    assert not budget.reserve(ONE_CALL)


def test_settling_replaces_the_reservation_by_what_was_used() -> None:
    budget = Budget(limits())
    held = Amount(tokens=50, tool_calls=3, cost_usd=Decimal("0.50"))
    budget.reserve(held)

    budget.settle(held, tool_calls=2, usage=usage(10, 5, "0.20"))

    assert budget.reserved == NOTHING
    assert budget.left() == Amount(tokens=85, tool_calls=8, cost_usd=Decimal("0.80"))


def test_more_than_reserved_is_charged_all_the_same() -> None:
    budget = Budget(limits(tokens=10))
    budget.reserve(ONE_CALL)

    budget.settle(ONE_CALL, tool_calls=1, usage=usage(11))

    assert budget.ledger.spent.tokens == 11
    assert budget.left().tokens == 0
    assert not budget.reserve(Amount(tokens=1))
    assert budget.reserve(ONE_CALL)


def test_release_gives_a_reservation_back() -> None:
    budget = Budget(limits())
    budget.reserve(Amount(tokens=100))

    budget.release(Amount(tokens=100))

    assert budget.left().tokens == 100


def test_unknown_price_and_estimates_stay_marked() -> None:
    budget = Budget(limits())
    budget.settle(NOTHING, tool_calls=0, usage=usage(10, 5, None))
    budget.settle(NOTHING, tool_calls=0, usage=usage(1).model_copy(update={"estimated": True}))
    budget.settle(NOTHING, tool_calls=1, usage=Usage())

    snapshot = budget.snapshot(NO_TIME)

    assert (snapshot.cost_known, snapshot.estimated, snapshot.tokens, snapshot.tool_calls) == (False, True, 16, 1)


def test_work_without_a_model_leaves_the_cost_known() -> None:
    budget = Budget(limits())
    budget.settle(ONE_CALL, tool_calls=1, usage=Usage())

    assert budget.ledger.cost_known


def test_snapshot_shows_limits_use_and_pressure() -> None:
    budget = Budget(limits(), spent(tokens=33, calls=1, cost="0.10"))
    budget.reserve(ONE_CALL)

    snapshot = budget.snapshot(timedelta(seconds=20))

    assert (snapshot.tokens, snapshot.max_tokens) == (33, 100)
    assert (snapshot.tool_calls, snapshot.max_tool_calls) == (1, 10)
    assert (snapshot.cost_usd, snapshot.max_cost_usd) == (Decimal("0.10"), Decimal("1.00"))
    assert (snapshot.elapsed, snapshot.max_wall_clock) == (timedelta(seconds=20), timedelta(seconds=60))
    assert snapshot.reserved == ONE_CALL
    assert snapshot.pressure == 0.3333


def test_extension_raises_each_limit_and_nothing_else() -> None:
    budget = Budget(limits(), spent(tokens=100))
    budget.reserve(ONE_CALL)

    budget.extend(
        Extension(message_id="m1", tokens=100, tool_calls=1, wall_clock=timedelta(seconds=1), cost_usd=Decimal("0.5"))
    )

    assert budget.limits == limits(tokens=200, calls=11, seconds=61, cost="1.50")
    assert budget.pressure(NO_TIME) == 0.5
    assert budget.reserved == ONE_CALL


@pytest.mark.parametrize(
    "field",
    [
        {"max_tokens": 0},
        {"max_tool_calls": -1},
        {"max_wall_clock": 0},
        {"max_cost_usd": 0},
        {"max_cost_usd": "NaN"},
        {"max_cost_usd": "Infinity"},
        {"max_coffee": 1},
    ],
    ids=str,
)
def test_limits_refuse_nonsense(field: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(field)


def test_budgets_do_not_share_a_ledger() -> None:
    one, other = Budget(limits()), Budget(limits())

    one.settle(NOTHING, tool_calls=1, usage=Usage())

    assert other.ledger.spent == NOTHING


_AMOUNTS = st.builds(
    Amount,
    tokens=st.integers(0, 60),
    tool_calls=st.integers(0, 4),
    cost_usd=st.decimals(0, 1, places=3),
)


@given(st.lists(st.tuples(_AMOUNTS, st.floats(0, 1), st.booleans()), max_size=30))
def test_spent_and_reserved_never_exceed_a_limit(work: list[tuple[Amount, float, bool]]) -> None:
    budget = Budget(limits())
    for amount, share, settles_now in work:
        if budget.reserve(amount) and settles_now:
            cost = (amount.cost_usd * Decimal(share)).quantize(Decimal("0.000001"), rounding="ROUND_DOWN")
            used = usage(int(amount.tokens * share), 0, str(cost))
            budget.settle(amount, tool_calls=int(amount.tool_calls * share), usage=used)

        total = budget.ledger.spent.plus(budget.reserved)
        assert total.fits_in(Amount(tokens=100, tool_calls=10, cost_usd=Decimal("1.00")))
        assert budget.left().plus(total) == Amount(tokens=100, tool_calls=10, cost_usd=Decimal("1.00"))


def test_no_limit_is_raised_beyond_what_a_limit_may_be() -> None:
    most = Extension(
        message_id="m",
        tokens=MOST_TOKENS,
        tool_calls=MOST_TOOL_CALLS,
        wall_clock=MOST_WALL_CLOCK,
        cost_usd=MOST_COST_USD,
    )

    raised = most.applied_to(Limits())

    assert Limits.model_validate(raised.model_dump()) == raised


@pytest.mark.parametrize(
    ("amount", "room", "often"),
    [
        (Amount(tokens=3, tool_calls=1), Amount(tokens=11, tool_calls=10), 3),
        (Amount(tokens=3, tool_calls=1), Amount(tokens=11, tool_calls=2), 2),
        (Amount(tool_calls=1, cost_usd=Decimal("0.3")), Amount(tool_calls=10, cost_usd=Decimal(1)), 3),
        (Amount(tool_calls=1, cost_usd=Decimal("0.1")), Amount(tool_calls=9, cost_usd=Decimal("0.7")), 7),
        (ONE_CALL, Amount(tool_calls=100), 20),
        (ONE_CALL, Amount(tokens=5, cost_usd=Decimal(1)), 0),
        (ONE_CALL, NOTHING, 0),
    ],
    ids=["tokens", "calls", "cost", "an even share of the cost", "at most so often", "no call is left", "no room"],
)
def test_an_amount_fits_as_often_as_its_scarcest_good_allows(amount: Amount, room: Amount, often: int) -> None:
    assert amount.times_in(room, most=20) == often


def test_a_multiple_has_so_much_of_each_good() -> None:
    amount = Amount(tokens=3, tool_calls=1, cost_usd=Decimal("0.1"))

    assert amount.times(3) == Amount(tokens=9, tool_calls=3, cost_usd=Decimal("0.3"))
    assert amount.times(0) == NOTHING


@given(_AMOUNTS.filter(lambda amount: amount != NOTHING), _AMOUNTS, st.integers(0, 9))
def test_so_many_fit_and_one_more_does_not(amount: Amount, room: Amount, most: int) -> None:
    often = amount.times_in(room, most=most)

    assert 0 <= often <= most
    assert amount.times(often).fits_in(room)
    assert often == most or not amount.times(often + 1).fits_in(room)


@given(_AMOUNTS, st.integers(0, 5))
def test_a_multiple_is_the_sum_of_its_parts(amount: Amount, number: int) -> None:
    total = NOTHING
    for _ in range(number):
        total = total.plus(amount)

    assert amount.times(number) == total


def test_a_call_that_needs_no_tokens_fits_when_tokens_are_overspent() -> None:
    budget = Budget(Limits(max_tokens=100, max_tool_calls=5), Ledger(spent=Amount(tokens=90)), Amount(tokens=40))

    assert budget.reserve(NOTHING)
    assert budget.reserve(ONE_CALL)
    assert not budget.reserve(Amount(tokens=1))


def test_what_was_accepted_is_held_again_whatever_has_been_spent_since() -> None:
    budget = Budget(Limits(max_tokens=100), Ledger(spent=Amount(tokens=100)))

    budget.hold(Amount(tokens=40, tool_calls=1))

    assert budget.reserved == Amount(tokens=40, tool_calls=1)


def test_nothing_fits_as_often_as_wanted_and_a_tiny_price_does_not_overflow() -> None:
    assert NOTHING.times_in(Amount(), most=3) == 3
    assert Amount(cost_usd=Decimal("1e-40")).times_in(Amount(cost_usd=Decimal(1_000_000)), most=3) == 3
