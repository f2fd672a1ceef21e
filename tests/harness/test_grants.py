from decimal import Decimal

from harness.budget import NOTHING, ONE_CALL, Amount, Budget, Limits
from harness.catalog import Effect, ModelCard, ToolRole
from harness.errors import ErrorClass
from harness.grants import (
    LEAST_MODEL_TOKENS,
    PLANNING_RULES_TOKENS,
    Grant,
    agent_grant,
    base_reservation,
    cost_of,
    grant,
    plan_grant,
    planning_prompt_tokens,
    usage_of_lost,
)
from harness.model_choice import ModelRole
from harness.recovery import FailureContext
from tests.builders import catalog, tool_spec

CARD = ModelCard(name="m", input_token_usd=Decimal("0.001"), output_token_usd=Decimal("0.002"))
UNPRICED = ModelCard(name="m")
READ = tool_spec(max_tries=3)
REPORT = tool_spec("report", role=ToolRole.FINAL_SYNTHESIS, max_model_tokens=3000)
ASK = tool_spec("ask", max_model_tokens=1000)
AGENT = tool_spec("agent", role=ToolRole.ANALYSIS, max_tries=1)


def budget(tokens: int = 10_000, calls: int = 10, cost: str = "100") -> Budget:
    return Budget(Limits(max_tokens=tokens, max_tool_calls=calls, max_cost_usd=Decimal(cost)))


def give(tool: object, held: Amount, within: Budget, *, card: ModelCard = CARD, high: bool = False) -> Grant | None:
    return grant(tool, held, budget=within, card=card, is_high_pressure=high)  # type: ignore[arg-type]


def test_tokens_cost_at_most_the_dearer_price() -> None:
    assert cost_of(10, CARD) == Decimal("0.020")
    assert cost_of(10, UNPRICED) == 0
    assert cost_of(10, ModelCard(name="m", input_token_usd=Decimal(1))) == 10


def test_every_node_holds_one_call() -> None:
    assert base_reservation(READ, synthesis_tokens=4000, card=CARD, budget=budget()) == ONE_CALL
    assert base_reservation(ASK, synthesis_tokens=4000, card=CARD, budget=budget()) == ONE_CALL
    silent = tool_spec("report", role=ToolRole.FINAL_SYNTHESIS)
    assert base_reservation(silent, synthesis_tokens=4000, card=CARD, budget=budget()) == ONE_CALL


def test_the_report_holds_its_tokens_as_well() -> None:
    def held(within: Budget, wanted: int = 4000) -> Amount:
        return base_reservation(REPORT, synthesis_tokens=wanted, card=CARD, budget=within)

    assert held(budget()) == Amount(tool_calls=1, tokens=3000, cost_usd=Decimal(6))
    assert held(budget(), 2000).tokens == 2000
    assert held(budget(tokens=500)).tokens == 500
    assert held(budget(cost="1")).tokens == 500
    assert held(budget(tokens=10)).tokens == LEAST_MODEL_TOKENS


def test_further_tries_come_from_the_surplus() -> None:
    within = budget(calls=2)
    within.reserve(ONE_CALL)

    first = give(READ, ONE_CALL, within)

    assert first == Grant(tries=2, tokens_per_try=0, reserved=Amount(tool_calls=2))
    assert within.left().tool_calls == 0


def test_healthy_plans_are_not_starved_by_retries_that_might_happen() -> None:
    within = budget(calls=3)
    within.reserve(Amount(tool_calls=3))

    assert [give(READ, ONE_CALL, within) for _ in range(3)] == [Grant(1, 0, ONE_CALL)] * 3


def test_high_pressure_and_writes_leave_one_try() -> None:
    for tool, high in ((READ, True), (tool_spec(effect=Effect.WRITE), False)):
        within = budget()
        within.reserve(ONE_CALL)
        assert give(tool, ONE_CALL, within, high=high) == Grant(1, 0, ONE_CALL)


def test_a_tool_that_calls_a_model_gets_tokens_for_each_try() -> None:
    within = budget(tokens=2500)
    within.reserve(ONE_CALL)

    granted = give(ASK, ONE_CALL, within)

    assert granted == Grant(2, 1000, Amount(tool_calls=2, tokens=2000, cost_usd=Decimal(4)))
    assert within.reserved == granted.reserved


def test_model_tokens_are_lowered_to_what_is_left_or_can_be_paid() -> None:
    for within in (budget(tokens=300), budget(cost="0.6")):
        within.reserve(ONE_CALL)
        granted = give(ASK, ONE_CALL, within)
        assert granted is not None
        assert (granted.tries, granted.tokens_per_try) == (1, 300)


def test_refuses_a_model_call_that_is_not_worth_starting() -> None:
    within = budget(tokens=LEAST_MODEL_TOKENS - 1)
    within.reserve(ONE_CALL)

    assert give(ASK, ONE_CALL, within) is None
    assert within.reserved == ONE_CALL


def test_a_tool_of_few_tokens_is_not_refused_for_it() -> None:
    within = budget()
    within.reserve(ONE_CALL)

    granted = give(tool_spec(max_model_tokens=50), ONE_CALL, within)

    assert granted is not None
    assert granted.tokens_per_try == 50


def test_the_report_uses_what_it_holds_even_when_nothing_else_is_left() -> None:
    held = Amount(tool_calls=1, tokens=3000, cost_usd=Decimal(6))
    within = budget(tokens=3000, calls=1)
    within.reserve(held)

    assert give(REPORT, held, within) == Grant(1, 3000, held)


def test_unknown_prices_leave_the_token_limit_alone() -> None:
    within = budget(cost="0.0001")
    within.reserve(ONE_CALL)

    granted = give(ASK, ONE_CALL, within, card=UNPRICED)

    assert granted is not None
    assert granted.reserved == Amount(tool_calls=3, tokens=3000)


def test_an_agent_alone_gets_all_that_is_left() -> None:
    within = budget()
    within.reserve(ONE_CALL)

    granted = agent_grant(ONE_CALL, [AGENT], budget=within, card=CARD)

    assert granted == Grant(1, 10_000, Amount(10_000, 10, Decimal(100)))
    assert within.reserved == granted.reserved


def test_an_agent_leaves_other_nodes_what_they_may_use_on_models() -> None:
    within = budget(calls=12)
    within.reserve(ONE_CALL.times(3))

    granted = agent_grant(ONE_CALL, [AGENT, ASK, READ], budget=within, card=CARD)

    assert granted == Grant(1, 9000, Amount(9000, 10, Decimal(98)))
    assert give(ASK, ONE_CALL, within) == Grant(1, 1000, Amount(1000, 1, Decimal(2)))


def test_agents_get_the_same_share_whichever_starts_first() -> None:
    within = budget(calls=20)
    within.reserve(ONE_CALL.times(2))

    shares = [agent_grant(ONE_CALL, [AGENT] * number, budget=within, card=CARD) for number in (2, 1)]

    assert shares == [Grant(1, 5000, Amount(5000, 10, Decimal(50)))] * 2
    assert within.left() == NOTHING


def test_where_little_is_left_agents_and_other_nodes_get_equal_parts() -> None:
    within = budget(tokens=9000)
    within.reserve(ONE_CALL.times(3))
    greedy = tool_spec("greedy", max_model_tokens=5000)

    granted = agent_grant(ONE_CALL, [AGENT, AGENT, greedy], budget=within, card=UNPRICED)

    assert granted == Grant(1, 3000, Amount(3000, 4, Decimal(50)))


def test_an_agent_counts_the_report_as_reserved() -> None:
    within = budget()
    within.reserve(Amount(tool_calls=2, tokens=3000))

    granted = agent_grant(ONE_CALL, [AGENT, REPORT], budget=within, card=UNPRICED)

    assert granted is not None
    assert granted.tokens_per_try == 7000


def test_an_agent_that_cannot_have_the_least_is_refused() -> None:
    within = budget(tokens=999)
    within.reserve(ONE_CALL)

    assert agent_grant(ONE_CALL, [AGENT], budget=within, card=CARD) is None
    assert within.reserved == ONE_CALL


def test_planning_reserves_its_tries_and_no_calls() -> None:
    within = budget(tokens=2500)

    granted = plan_grant(600, 400, budget=within, card=CARD, is_high_pressure=False)

    assert granted == Grant(2, 1000, Amount(tokens=2000, cost_usd=Decimal(4)))


def test_planning_lowers_its_output_down_to_a_least() -> None:
    lowered = plan_grant(600, 4000, budget=budget(tokens=900), card=CARD, is_high_pressure=True)

    assert lowered is not None
    assert (lowered.tries, lowered.tokens_per_try) == (1, 900)
    assert plan_grant(600, 4000, budget=budget(tokens=799), card=CARD, is_high_pressure=False) is None


def test_planning_has_at_most_three_tries() -> None:
    granted = plan_grant(10, 400, budget=budget(), card=UNPRICED, is_high_pressure=False)

    assert granted is not None
    assert granted.tries == 3


def test_planning_prompt_grows_with_goal_catalog_and_failures() -> None:
    failure = FailureContext(attempt=0, phase="PLANNING", error_class=ErrorClass.VALIDATION, message="no plan")
    plain = planning_prompt_tokens("goal", catalog(), ())

    assert plain > PLANNING_RULES_TOKENS
    assert planning_prompt_tokens("goal" * 100, catalog(), ()) > plain
    assert planning_prompt_tokens("goal", catalog(), [failure]) > plain


def test_other_models_make_the_planning_prompt_no_longer() -> None:
    with_more = catalog().model_copy(update={"role_models": {ModelRole.JUDGE: CARD}, "fallback": CARD})

    assert planning_prompt_tokens("goal", with_more, ()) == planning_prompt_tokens("goal", catalog(), ())


def test_tries_lost_with_their_worker_may_have_used_their_whole_grant() -> None:
    given = Grant(tries=3, tokens_per_try=100, reserved=NOTHING)

    lost = usage_of_lost(given, 2, CARD)
    assert (lost.total_tokens, lost.cost_usd, lost.estimated) == (200, Decimal("0.400"), True)
    assert usage_of_lost(given, 2, UNPRICED).cost_usd is None
    assert usage_of_lost(given, 0, CARD).total_tokens == 0
    assert usage_of_lost(Grant(tries=3, tokens_per_try=0, reserved=NOTHING), 2, CARD).total_tokens == 0


def test_a_call_that_wants_little_output_needs_no_more_room_than_that() -> None:
    granted = plan_grant(600, 50, budget=budget(tokens=650), card=CARD, is_high_pressure=True)

    assert granted is not None
    assert granted.tokens_per_try == 650
    assert plan_grant(600, 50, budget=budget(tokens=649), card=CARD, is_high_pressure=True) is None
