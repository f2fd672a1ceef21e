from decimal import Decimal

import pytest
from pydantic import ValidationError

from harness.usage import Usage, estimate_tokens

CHEAP = Usage(model="small", input_tokens=10, output_tokens=5, cost_usd=Decimal("0.20"))
UNPRICED = Usage(model="local", input_tokens=1, output_tokens=1)


def test_adds_tokens_and_cost() -> None:
    assert CHEAP.plus(CHEAP) == Usage(model="small", input_tokens=20, output_tokens=10, cost_usd=Decimal("0.40"))


def test_adding_nothing_changes_nothing() -> None:
    assert CHEAP.plus(Usage()) == CHEAP
    assert Usage().plus(CHEAP) == CHEAP


def test_unknown_cost_makes_the_sum_unknown() -> None:
    assert CHEAP.plus(UNPRICED).cost_usd is None
    assert UNPRICED.plus(CHEAP).cost_usd is None


def test_estimate_stays_marked() -> None:
    assert CHEAP.plus(UNPRICED.model_copy(update={"estimated": True})).estimated


def test_each_model_is_named_once() -> None:
    assert CHEAP.plus(UNPRICED).plus(CHEAP).plus(UNPRICED).model == "small, local"


def test_tokens_without_a_model_name_count() -> None:
    nameless = Usage(input_tokens=3)

    assert CHEAP.plus(nameless).total_tokens == 18
    assert nameless.plus(CHEAP).total_tokens == 18
    assert nameless.plus(CHEAP).model == "small"


def test_adds_cached_and_reasoning_tokens_and_sets_only_those_that_are_there() -> None:
    detailed = CHEAP.detailed(cached_tokens=4, reasoning_tokens=0)

    total = detailed.plus(detailed)

    assert (total.cached_tokens, total.reasoning_tokens) == (8, 0)
    assert "cached_tokens" in total.model_fields_set
    assert "reasoning_tokens" not in total.model_fields_set


def test_refuses_negative_use() -> None:
    with pytest.raises(ValidationError):
        Usage(model="m", cost_usd=Decimal(-1))


def test_estimates_tokens_on_the_high_side() -> None:
    assert estimate_tokens("") == 8
    assert estimate_tokens("four") == 9
    assert estimate_tokens("дом") == 11
