"""What a replan may take from an earlier attempt, and what is found when it does not."""

from dataclasses import replace

import pytest

from chaos.checks import violations_of
from chaos.evidence import Call, Outcome, RoundEvidence, RunEvidence
from chaos.facts import Rule
from chaos.ledger import Entry, What
from chaos.plans import PUT
from harness.run import NodeReport
from harness.schedule import NodeStatus
from tests.chaos.fabricated import CALLS, PLAN, REPORT_CALL, broken, budget, entry, evidence, result, run

PUT_CALL, POST_CALL = CALLS


def replanned(*calls: Call, reused: bool, charged: int) -> RunEvidence:
    """Return a run whose first attempt did `put`, and whose second has it DONE, reused or not."""
    nodes = tuple(
        NodeReport(node=each, status=NodeStatus.DONE, reused=reused and each.id == "put") for each in PLAN.nodes
    )
    rest = (replace(POST_CALL, activity_id="post@1"), replace(REPORT_CALL, activity_id="report@1"))
    return run(calls=(PUT_CALL, *calls, *rest), result=result(plan=nodes, budget=budget(charged)))


def lines_of_attempt_1(*more: Entry) -> RoundEvidence:
    """Return a round in whose run all but `put` happened in attempt 1."""
    ledger = tuple(
        line
        if line.run_id == "calm" or line.node_id == "put"
        else line.model_copy(update={"key": line.key.replace("@0", "@1")})
        for line in evidence().ledger
    )
    return evidence(ledger=(*ledger, *more))


def test_a_node_may_take_the_result_of_an_equal_call_of_an_earlier_attempt() -> None:
    assert violations_of(replace(lines_of_attempt_1(), runs=(replanned(reused=True, charged=3),))) == ()


def test_a_call_that_finds_a_result_to_reuse_is_not_charged() -> None:
    call = Call("put@1", PUT, 1, Outcome.DONE, 15, is_reused=True)

    assert violations_of(replace(lines_of_attempt_1(), runs=(replanned(call, reused=True, charged=3),))) == ()
    assert broken(replace(lines_of_attempt_1(), runs=(replanned(call, reused=True, charged=4),))) == {Rule.WRONG_BUDGET}


def test_a_node_that_reuses_what_no_earlier_attempt_has_done_is_found() -> None:
    nodes = tuple(NodeReport(node=each, status=NodeStatus.DONE, reused=each.id == "put") for each in PLAN.nodes)

    assert broken(evidence(runs=(run(result=result(plan=nodes)),))) == {Rule.EFFECT_LOST}


@pytest.mark.parametrize("name", ["put", "put_again"], ids=["under its id", "under another id"])
def test_a_call_that_ran_again_in_another_attempt_is_found(name: str) -> None:
    call = Call(f"{name}@1", PUT, 1, Outcome.DONE, 15)
    changes = {"key": f"r/{name}@1", "node_id": name}
    lines = (entry(What.BEGIN, "put", 14, **changes), entry(What.EFFECT, "put", 14.5, **changes))

    found = broken(replace(lines_of_attempt_1(*lines), runs=(replanned(call, reused=False, charged=4),)))

    assert Rule.REUSE_MISSED in found
    assert Rule.DONE_RAN_AGAIN not in found


def test_a_call_that_was_not_done_in_an_earlier_attempt_may_run() -> None:
    failed = replace(PUT_CALL, outcome=Outcome.FAILED)
    spoilt = replace(replanned(reused=False, charged=4), calls=(failed, Call("put@1", PUT, 1, Outcome.DONE, 15)))
    lines = (entry(What.BEGIN, "put", 14, key="r/put@1"), entry(What.EFFECT, "put", 14.5, key="r/put@1"))

    assert Rule.REUSE_MISSED not in broken(replace(lines_of_attempt_1(*lines), runs=(spoilt,)))
