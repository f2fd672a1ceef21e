from datetime import timedelta

import pytest
from pydantic import ValidationError

from harness.run import FAILED_STATUS, NEXT_PHASES, RunOptions, RunPhase, RunRequest, RunStatus, draft_nodes
from harness.schedule import NodeStatus
from tests.builders import games_plan

MOVES: dict[str, str] = {
    "CREATED": "PLANNING EXECUTING FINISHED",
    "PLANNING": "VALIDATING REPLANNING FINISHED",
    "VALIDATING": "EXECUTING REPLANNING FINISHED",
    "EXECUTING": "VERIFYING RETRYING REPLANNING CONTINUING FINISHED",
    "RETRYING": "EXECUTING FINISHED",
    "VERIFYING": "REPLANNING FINISHED",
    "REPLANNING": "PLANNING FINISHED",
    "CONTINUING": "EXECUTING FINISHED",
    "FINISHED": "",
}


@pytest.mark.parametrize("phase", RunPhase)
def test_moves_are_those_of_the_state_machine(phase: RunPhase) -> None:
    assert {target.value for target in NEXT_PHASES[phase]} == set(MOVES[phase].split())


def test_table_of_moves_is_total() -> None:
    assert set(NEXT_PHASES) == set(RunPhase)


def test_every_phase_can_be_reached() -> None:
    reached = {RunPhase.CREATED}
    while True:
        further = reached.union(*(NEXT_PHASES[phase] for phase in reached))
        if further == reached:
            break
        reached = further

    assert reached == set(RunPhase)


def test_only_finished_is_terminal_and_every_phase_can_finish() -> None:
    assert [phase for phase in RunPhase if not NEXT_PHASES[phase]] == [RunPhase.FINISHED]
    assert all(RunPhase.FINISHED in NEXT_PHASES[phase] for phase in RunPhase if phase is not RunPhase.FINISHED)


def test_every_phase_but_the_last_has_a_failed_status() -> None:
    assert set(FAILED_STATUS) == set(RunPhase) - {RunPhase.FINISHED}
    assert set(FAILED_STATUS.values()) == {status for status in RunStatus if status.startswith("FAILED_")}


def test_request_has_the_documented_defaults() -> None:
    options = RunRequest(goal="recommend games").options

    assert (options.limits.max_tokens, options.limits.max_tool_calls) == (20_000, 50)
    assert (options.limits.max_wall_clock, str(options.limits.max_cost_usd)) == (timedelta(seconds=120), "0.25")
    assert (options.max_replans, options.max_concurrency, options.max_run_retries) == (2, 5, 1)
    assert options.model_timeout == timedelta(seconds=60)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"goal": ""},
        {"goal": " \n"},
        {"goal": "x" * 20_001},
        {"goal": "x", "priority": 1},
        {"goal": "x", "toolkit": ""},
        {"goal": "x", "options": {"max_concurrency": 51}},
        {"goal": "x", "options": {"max_replans": -1}},
        {"goal": "x", "options": {"limits": {"max_tokens": -1}}},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_request_refuses_nonsense(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RunRequest.model_validate(fields)


def test_options_survive_json() -> None:
    options = RunOptions(retry_wait=timedelta(seconds=1.5))

    assert RunOptions.model_validate_json(options.model_dump_json()) == options


def test_draft_shows_every_node_as_pending() -> None:
    assert [(report.node.id, report.status) for report in draft_nodes(games_plan())] == [
        ("facts", NodeStatus.PENDING),
        ("reviews", NodeStatus.PENDING),
        ("games", NodeStatus.PENDING),
        ("prices", NodeStatus.PENDING),
        ("summary", NodeStatus.PENDING),
    ]
