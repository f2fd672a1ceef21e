"""Checks that nothing is run twice: neither within an attempt, nor by a replan that could have taken the result."""

from collections.abc import Iterator

from chaos.evidence import Call, Outcome
from chaos.facts import Facts, Finding, Rule
from chaos.ledger import What
from chaos.toolkit import REPORTING


def nothing_done_ran_again(facts: Facts) -> Iterator[Finding]:
    """Within an attempt no try of a node began, and no call of it was scheduled, after one was DONE in history."""
    done: dict[str, Call] = {}
    for call in facts.calls:
        if call.activity_id in done:
            yield Rule.DONE_RAN_AGAIN, f"{call.activity_id} was scheduled after {done[call.activity_id]}"
        elif call.outcome is Outcome.DONE:
            done[call.activity_id] = call
    for entry in facts.entries:
        first = done.get(entry.activity_id)
        if entry.what is What.BEGIN and first is not None and entry.at > first.ended_at:
            yield Rule.DONE_RAN_AGAIN, f"{entry} began after {first}"


def nothing_paid_for_ran_again(facts: Facts) -> Iterator[Finding]:
    """No call began that was equal to one that is DONE in an earlier attempt; a report is written anew."""
    done = {facts.key(call): call for call in facts.calls if call.outcome is Outcome.DONE and not call.is_reused}
    begun = {entry.key: entry for entry in facts.entries if entry.what is What.BEGIN and entry.tool not in REPORTING}
    paid: dict[tuple[str, str], Call] = {}
    for key, entry in begun.items():
        if key in done:
            paid.setdefault((entry.tool, entry.arguments), done[key])
    for entry in begun.values():
        first = paid.get((entry.tool, entry.arguments))
        if first is not None and entry.attempt > first.attempt:
            yield Rule.REUSE_MISSED, f"{entry} began though {first} of an earlier attempt was equal"
