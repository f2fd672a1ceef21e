import json
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from harness.artifact import Artifact
from harness.budget import Amount, Ledger, Limits
from harness.guardrail import Guardrail
from harness.loop import StepPage, StepRecord
from harness.loop_carry import LoopCarry, LoopInput
from harness.loop_options import LoopOptions
from harness.run import RunRequest
from tests.harness.loops import begin

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PAGE = Artifact(digest="ab" * 32, size=70_000)
BARE = LoopCarry(
    started_at=AT, limits=Limits(), ledger=Ledger(), agent=begin(LoopOptions()).carry(), frame=PAGE, catalog=PAGE
)


def test_a_carry_survives_the_way_to_the_next_workflow_run() -> None:
    more = {
        "attempt_started_at": AT + timedelta(seconds=9),
        "ledger": Ledger(spent=Amount(tokens=3, tool_calls=2), cost_known=False),
        "recent": (StepRecord(number=1, call="1.1", tool="a", success=True, result="A"),),
        "step_pages": (StepPage(artifact=PAGE, steps=9),),
        "applied_messages": ("m1", "m2"),
        "guardrails": (Guardrail.PII,),
        "ungrounded": ("98,765",),
        "continued": 2,
    }
    given = LoopInput(goal="a game", carry=BARE.model_copy(update=more))

    assert LoopInput.model_validate_json(given.model_dump_json(exclude_unset=True)) == given


def test_a_loop_that_carries_little_sends_little() -> None:
    sent = json.loads(BARE.model_dump_json(exclude_unset=True))

    assert sorted(sent) == ["agent", "catalog", "frame", "ledger", "limits", "started_at"]


def test_what_a_client_sends_is_a_request_of_any_run() -> None:
    request = RunRequest(goal="a game")

    assert LoopInput.model_validate_json(request.model_dump_json(exclude_unset=True)) == LoopInput(goal="a game")


def test_the_soft_limit_of_the_context_is_not_above_the_hard_one() -> None:
    with pytest.raises(ValidationError, match=r"soft_context_tokens \(500\) must not exceed hard_context_tokens"):
        LoopOptions(soft_context_tokens=500, hard_context_tokens=400)
