"""Each check of a round can fail: evidence is fabricated in which one thing is wrong."""

from dataclasses import replace
from pathlib import Path

import pytest

from chaos.checks import violations_of
from chaos.evidence import Call, Outcome, RoundEvidence
from chaos.facts import Rule
from chaos.ledger import Entry, What
from chaos.plans import FOLD, POST, PUT
from harness.errors import ErrorCode
from harness.run import NodeReport, RunResult, RunStatus
from harness.schedule import NodeStatus
from tests.chaos.fabricated import (
    CALLS,
    LEDGER,
    PLAN,
    REPORT_CALL,
    broken,
    budget,
    entry,
    evidence,
    result,
    run,
    without,
)

PUT_CALL, POST_CALL = CALLS


def test_nothing_is_wrong_with_a_round_in_which_all_is_well() -> None:
    assert violations_of(evidence()) == ()


def test_a_run_without_a_result_is_shown_with_its_last_events() -> None:
    hung = run(result=None, calls=(), stuck=("not terminal after 60 s", "pending put@0", "event 9: X"))

    (found,) = violations_of(evidence(runs=(hung,), ledger=evidence().ledger[:8]))

    assert found.rule is Rule.NOT_TERMINAL
    assert "pending put@0; event 9: X" in found.evidence


@pytest.mark.parametrize(
    "line",
    [
        entry(What.BEGIN, "put", 4, key="r/put@0/2", try_number=2),
        entry(What.BEGIN, "put", 4, key="r/post@0"),
        entry(What.END, "put", 4, arguments="others"),
    ],
    ids=["another key for another try", "the key of another node", "other arguments"],
)
def test_a_key_that_does_not_name_one_call_is_found(line: Entry) -> None:
    assert Rule.UNSTABLE_KEY in broken(evidence(line))


@pytest.mark.parametrize("name", ["put", "post"])
def test_an_effect_that_happened_twice_is_found(name: str) -> None:
    assert Rule.EFFECT_REPEATED in broken(evidence(entry(What.EFFECT, name, 2.5)))


@pytest.mark.parametrize("name", ["put", "post"])
def test_an_effect_that_a_done_node_has_not_had_is_found(name: str) -> None:
    assert broken(evidence(ledger=without(What.EFFECT, name))) == {Rule.EFFECT_MISSING, Rule.EFFECT_LOST}


@pytest.mark.parametrize("name", ["put", "post"])
def test_a_done_node_that_was_never_called_has_lost_its_effect(name: str) -> None:
    calls = tuple(call for call in (*CALLS, REPORT_CALL) if call.node_id != name)
    ledger = tuple(line for line in evidence().ledger if (line.node_id, line.run_id) != (name, "r"))

    assert broken(evidence(runs=(run(calls=calls, result=result(budget=budget(2))),), ledger=ledger)) == {
        Rule.EFFECT_LOST
    }


def test_a_write_that_began_twice_is_found_also_when_its_first_try_did_nothing() -> None:
    again = entry(What.BEGIN, "post", 14, try_number=2)
    calls = (PUT_CALL, replace(POST_CALL, tries=2), REPORT_CALL)

    assert broken(evidence(again, runs=(run(calls=calls, result=result(budget=budget(4))),))) == {Rule.WRITE_REPEATED}


def test_a_write_that_was_dispatched_again_in_another_attempt_is_found() -> None:
    lost = Call("post@0", POST, 1, Outcome.TIMED_OUT, 15)
    again = Call("post@1", POST, 1, Outcome.DONE, 25)
    spoilt = run(calls=(PUT_CALL, lost, again, REPORT_CALL), result=result(budget=budget(4)))
    lines = (entry(What.BEGIN, "post", 16, key="r/post@1"), entry(What.EFFECT, "post", 17, key="r/post@1"))

    assert Rule.WRITE_REPEATED in broken(evidence(*lines, runs=(spoilt,)))


def ended_with(code: ErrorCode | None, outcome: Outcome = Outcome.TIMED_OUT, tries: int = 1) -> RoundEvidence:
    """Return a round whose WRITE ended like this and was told by this code."""
    status = NodeStatus.DONE if code is None else NodeStatus.FAILED
    nodes = (
        NodeReport(node=PLAN.nodes[0], status=NodeStatus.DONE),
        NodeReport(node=PLAN.nodes[1], status=status, error_code=code),
        NodeReport(node=PLAN.nodes[2], status=NodeStatus.SKIPPED),
    )
    failed = result(status=RunStatus.FAILED_EXECUTION, report=None, plan=nodes, budget=budget(1 + tries))
    calls = (PUT_CALL, replace(POST_CALL, outcome=outcome, tries=tries))
    rest = tuple(line for line in evidence().ledger if line.run_id == "calm" or line.node_id != "report")
    return evidence(runs=(run(calls=calls, result=failed),), ledger=rest)


def test_a_run_may_end_without_a_report_when_it_says_that_a_write_was_lost() -> None:
    assert violations_of(ended_with(ErrorCode.UNCERTAIN_EFFECT)) == ()


def test_a_lost_write_that_is_told_as_a_timeout_is_found() -> None:
    assert broken(ended_with(ErrorCode.TIMEOUT)) == {Rule.WRITE_UNTOLD, Rule.UNEXPLAINED_END}


def test_a_write_that_is_called_uncertain_though_it_is_done_is_found() -> None:
    assert Rule.WRITE_UNTOLD in broken(ended_with(ErrorCode.UNCERTAIN_EFFECT, Outcome.DONE))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ErrorCode.UNCERTAIN_EFFECT, {Rule.FALSE_UNCERTAINTY}),
        (ErrorCode.INTERNAL, {Rule.UNEXPLAINED_END}),
    ],
)
def test_a_write_that_never_began_and_said_so_must_not_be_called_uncertain(
    code: ErrorCode, expected: set[Rule]
) -> None:
    round_ = ended_with(code, Outcome.FAILED)
    lines = tuple(line for line in round_.ledger if (line.node_id, line.run_id) != ("post", "r"))

    assert broken(replace(round_, ledger=lines, runs=(replace(round_.runs[0], lost=1),))) == expected


def test_a_write_that_never_began_may_be_called_uncertain_when_its_worker_was_lost() -> None:
    round_ = ended_with(ErrorCode.UNCERTAIN_EFFECT)
    lines = tuple(line for line in round_.ledger if (line.node_id, line.run_id) != ("post", "r"))

    assert violations_of(replace(round_, ledger=lines)) == ()


def test_a_run_that_failed_though_every_node_could_be_repeated_is_found() -> None:
    failed = result(status=RunStatus.FAILED_EXECUTION, report=None, error="tries used up")

    assert broken(evidence(runs=(run(result=failed),))) == {Rule.UNEXPLAINED_END}


@pytest.mark.parametrize("charged", [2, 4])
def test_a_charge_other_than_the_tries_that_temporal_made_is_found(charged: int) -> None:
    assert broken(evidence(runs=(run(result=result(budget=budget(charged))),))) == {Rule.WRONG_BUDGET}


def test_a_try_that_began_though_temporal_made_none_is_found() -> None:
    assert broken(evidence(entry(What.BEGIN, "put", 4, try_number=2))) == {Rule.WRONG_BUDGET}


def lost_before_it_began(lost: int) -> RoundEvidence:
    """Return a round in which Temporal made two tries of a node, and one began."""
    calls = (replace(PUT_CALL, tries=2), POST_CALL, REPORT_CALL)
    return evidence(runs=(run(calls=calls, result=result(budget=budget(4)), lost=lost),))


def test_a_try_may_be_charged_that_never_began_when_its_worker_was_lost() -> None:
    assert violations_of(lost_before_it_began(1)) == ()


def test_a_try_that_never_began_and_was_not_lost_is_found() -> None:
    assert broken(lost_before_it_began(0)) == {Rule.WRONG_BUDGET}


@pytest.mark.parametrize(
    "wrong",
    [result(report="another"), result(plan=(NodeReport(node=PLAN.nodes[0], status=NodeStatus.FAILED),))],
    ids=["another report", "a node that failed"],
)
def test_a_report_that_a_run_without_faults_would_not_write_is_found(wrong: RunResult) -> None:
    assert broken(evidence(runs=(run(result=wrong),))) == {Rule.WRONG_REPORT}


def test_a_node_that_began_after_it_was_done_is_found() -> None:
    calls = (replace(PUT_CALL, tries=2), POST_CALL, REPORT_CALL)
    again = entry(What.BEGIN, "put", PUT_CALL.ended_at + 0.001, try_number=2)

    assert broken(evidence(again, runs=(run(calls=calls, result=result(budget=budget(4))),))) == {Rule.DONE_RAN_AGAIN}


def test_a_node_that_was_scheduled_after_it_was_done_is_found() -> None:
    again = Call("put@0", PUT, 0, Outcome.CANCELLED, 12)

    assert broken(evidence(runs=(run(calls=(PUT_CALL, POST_CALL, again, REPORT_CALL)),))) == {Rule.DONE_RAN_AGAIN}


def test_a_history_that_does_not_replay_is_found() -> None:
    assert broken(evidence(runs=(run(replay_failures=("workflow run 0: nondeterminism",)),))) == {Rule.REPLAY_FAILED}


def test_a_workflow_task_that_failed_is_found() -> None:
    assert broken(evidence(runs=(run(task_failures=("event 7: NON_DETERMINISTIC_ERROR",)),))) == {Rule.TASK_FAILED}


def test_a_process_that_nobody_killed_is_found() -> None:
    assert broken(evidence(deaths=("worker 0 ended by itself with -11",))) == {Rule.PROCESS_DIED}


def test_a_calm_run_must_succeed_with_equal_counts_of_tries() -> None:
    calm = replace(evidence().calm, result=result(status=RunStatus.FAILED_EXECUTION, report="the report"))
    lines = tuple(line for line in evidence().ledger if (line.run_id, line.what) != ("calm", What.BEGIN))

    found = violations_of(evidence(calm=calm, ledger=lines))

    assert {(each.rule, each.run_id) for each in found} >= {
        (Rule.UNEXPLAINED_END, "calm"),
        (Rule.WRONG_BUDGET, "calm"),
    }


def test_every_rule_can_be_broken() -> None:
    source = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*checks.py"))

    assert [rule for rule in Rule if f"Rule.{rule}" not in source] == []


def test_the_fabricated_round_is_complete() -> None:
    assert [line.tool for line in LEDGER if line.what is What.BEGIN] == [PUT, POST, FOLD]
