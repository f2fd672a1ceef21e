"""Plans, scenarios and kills follow from their seeds, and every plan is one that the harness accepts."""

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from activities.guardrails.pii import find_private
from activities.model.cards import ModelCards
from activities.toolkit import describe
from chaos.killer import Mode, Target, draw_strikes
from chaos.ledger import Ledger
from chaos.plans import BRITTLE_READ, POST, PUT, READ, Scenario, plan_of, replanned, scenario_of
from chaos.round import Round
from chaos.toolkit import EFFECTS, chaos_toolkit
from chaos.worker import CARD
from harness.artifact import INLINE_BYTES
from harness.carry import INLINE_CARRY_BYTES
from harness.catalog import Effect
from harness.plan import PlanNode
from harness.validation import validate

SCENARIOS = [
    Scenario(1, 2, 0),
    Scenario(2, 10, 20, is_vague=True),
    Scenario(3, 40, 5, is_heavy=True),
    Scenario(4, 200, 50, is_vague=True, is_heavy=True),
]
FIFTY = [Round.draw(1, index, Mode.WORKERS, most_nodes=40) for index in range(50)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.goal)
def test_a_plan_is_valid_for_the_tools_that_serve_it(scenario: Scenario) -> None:
    catalog = describe(chaos_toolkit(Ledger(Path("nowhere"))), ModelCards(CARD))

    for plan in (plan_of(scenario), replanned(scenario)):
        assert validate(plan, catalog, max_nodes=200, calls_left=1000) == ()
        assert len(plan.nodes) == scenario.nodes


def test_the_goal_carries_a_scenario_to_the_planner() -> None:
    assert [scenario_of(scenario.goal) for scenario in SCENARIOS] == SCENARIOS


def test_no_goal_holds_what_a_guardrail_would_hide_from_the_planner() -> None:
    drawn = [Round.draw(2027, index, Mode.WORKERS, most_nodes=40).scenario.goal for index in range(2000)]

    assert [goal for goal in drawn if find_private(goal)] == []
    assert plan_of(SCENARIOS[2]) == plan_of(SCENARIOS[2])
    assert plan_of(Scenario(7, 40, 5)) != plan_of(Scenario(8, 40, 5))


def sizes_of(nodes: Iterable[PlanNode]) -> list[int]:
    return [int(a.value.literal_value) for node in nodes for a in node.arguments if a.name == "size"]


def call_of(node: PlanNode) -> tuple[str, dict[str, str]]:
    """Return what a node calls, apart from what it takes from others."""
    return node.tool, {a.name: a.value.literal_value for a in node.arguments if not a.value.source_node_ids}


def test_plans_hold_pairs_of_equal_calls_that_write_and_no_others() -> None:
    pairs = []
    for seed in range(10):
        nodes = plan_of(Scenario(seed, 40, 20)).nodes[:-1]
        pairs += [(a, b) for number, b in enumerate(nodes) for a in nodes[:number] if call_of(a) == call_of(b)]

    assert {a.tool for a, _ in pairs} == {PUT, POST}
    assert all(a.arguments == b.arguments and a.id != b.id for a, b in pairs)
    assert {a.id in b.deps for a, b in pairs} == {True, False}


def test_a_replan_words_the_vague_read_otherwise_and_repeats_every_other_call() -> None:
    scenario = Scenario(2, 40, 20, is_vague=True)
    pairs = list(zip(plan_of(scenario).nodes, replanned(scenario).nodes, strict=True))

    ((vague, clear),) = [(a, b) for a, b in pairs if call_of(a) != call_of(b)]
    assert vague.tool in {READ, BRITTLE_READ}
    assert call_of(vague) == (clear.tool, call_of(clear)[1] | {"is_vague": "true"})
    assert 0 < sum(a.id != b.id for a, b in pairs) < 20


def test_a_third_of_the_rounds_replan_and_half_are_sent_messages() -> None:
    assert 10 <= sum(round_.scenario.is_vague for round_ in FIFTY) <= 25
    assert 15 <= sum(bool(round_.messages) for round_ in FIFTY) <= 35
    assert all(3 <= len(round_.messages) <= 6 for round_ in FIFTY if round_.messages)


@pytest.mark.parametrize("seed", range(20))
def test_twenty_rounds_hold_some_whose_state_is_too_large_to_be_carried_inline(seed: int) -> None:
    rounds = [Round.draw(seed, index, Mode.WORKERS, most_nodes=40) for index in range(20)]

    assert any(has_pages(round_) for round_ in rounds)


def has_pages(round_: Round) -> bool:
    """Return whether the inline results are too large before the server suggests to continue."""
    inline = [size for size in sizes_of(plan_of(round_.scenario).nodes) if size <= INLINE_BYTES]
    events_of_a_node = 3
    done = min(len(inline), (round_.suggest_after or 10**6) // events_of_a_node)
    return round_.suggest_after is not None and sum(inline[:done]) > INLINE_CARRY_BYTES


def test_plans_hold_every_kind_of_tool_and_large_results() -> None:
    nodes = [node for seed in range(10) for node in plan_of(Scenario(seed, 40, 20)).nodes]
    sizes = sizes_of(nodes)

    assert {node.tool for node in nodes} == set(EFFECTS)
    assert sum(1 for size in sizes if size > 16_384) >= 10


def test_a_scenario_without_writes_has_none() -> None:
    assert all(EFFECTS[node.tool] is not Effect.WRITE for node in plan_of(Scenario(5, 100, 0)).nodes)


def test_rounds_follow_from_seed_and_number() -> None:
    assert Round.draw(1, 5, Mode.SERVER, most_nodes=40) == Round.draw(1, 5, Mode.SERVER, most_nodes=40)
    assert Round.draw(1, 5, Mode.SERVER, most_nodes=40) != Round.draw(1, 6, Mode.SERVER, most_nodes=40)
    assert all(10 <= Round.draw(1, i, Mode.WORKERS, most_nodes=40).scenario.nodes <= 40 for i in range(50))


def test_the_server_is_killed_in_its_mode_only() -> None:
    drawn = {mode: [draw_strikes(Random(seed), mode) for seed in range(50)] for mode in Mode}

    assert all(1 <= len(strikes) <= 4 for of_mode in drawn.values() for strikes in of_mode)
    assert all(any(s.target is Target.SERVER for s in strikes) for strikes in drawn[Mode.SERVER])
    assert all(s.target is not Target.SERVER for strikes in drawn[Mode.WORKERS] for s in strikes)
