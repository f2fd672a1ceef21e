import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from pydantic import ValidationError

from harness.artifact import Artifact, StoredResult
from harness.budget import Amount, Ledger, Limits
from harness.carry import INLINE_CARRY_BYTES, MAX_FAILURES_BYTES, Carry, RunInput
from harness.progress import StatePage
from harness.run import MAX_GOAL_CHARS, RunRequest
from harness.trace import TracePage

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PAGE = Artifact(digest="ab" * 32, size=70_000)
BARE = Carry(attempt=0, started_at=AT, limits=Limits(), ledger=Ledger())


def test_a_carry_survives_the_way_to_the_next_workflow_run() -> None:
    carry = Carry(
        attempt=1,
        started_at=AT,
        attempt_started_at=AT + timedelta(seconds=9),
        limits=Limits(max_tokens=7, max_cost_usd=Decimal("0.10")),
        ledger=Ledger(spent=Amount(tokens=3, tool_calls=2, cost_usd=Decimal("0.000001")), cost_known=False),
        retries=1,
        state=StatePage(paid={"key": StoredResult.of({"a": 1})}),
        pages=(PAGE,),
        trace_pages=(TracePage(artifact=PAGE, events=9_000),),
        applied_messages=("m1", "m2"),
        is_executing=True,
    )
    given = RunInput(goal="a game", carry=carry)

    assert RunInput.model_validate_json(given.model_dump_json(exclude_unset=True)) == given


def test_a_run_that_carries_little_sends_little() -> None:
    sent = json.loads(RunInput(goal="a game", carry=BARE).model_dump_json(exclude_unset=True))

    assert sent == {
        "goal": "a game",
        "carry": {
            "attempt": 0,
            "started_at": "2026-01-02T03:04:05Z",
            "limits": {},
            "ledger": {
                "spent": {"tokens": 0, "tool_calls": 0, "cost_usd": "0"},
                "cost_known": True,
                "estimated": False,
            },
        },
    }


def test_the_request_of_a_client_is_an_input_without_a_carry() -> None:
    given = RunInput.model_validate_json(RunRequest(goal="a game").model_dump_json(exclude_unset=True))

    assert (given.goal, given.carry, given.activity_queue) == ("a game", None, "")


@pytest.mark.parametrize("change", [{"attempt": -1}, {"retries": -1}, {"ledger": {"spent": {"tokens": -1}}}], ids=str)
def test_what_no_run_can_have_left_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Carry.model_validate(BARE.model_dump() | change)


def test_a_later_version_may_carry_more() -> None:
    assert Carry.model_validate(BARE.model_dump() | {"mood": "calm"}) == BARE


def test_failures_state_and_goal_stay_under_512_kb_together_whatever_the_characters_of_the_goal_take() -> None:
    assert MAX_FAILURES_BYTES + INLINE_CARRY_BYTES + 6 * MAX_GOAL_CHARS < 512 * 1024
