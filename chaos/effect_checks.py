"""Checks of what a run has done to the world: each effect once, none lost, none repeated, none told wrongly."""

from collections import Counter
from collections.abc import Iterator

from chaos.evidence import Call, Outcome
from chaos.facts import Check, Facts, Finding, Rule, is_writing
from chaos.ledger import Entry, What
from chaos.plans import seed_of
from chaos.toolkit import EFFECTS
from harness.catalog import Effect
from harness.errors import ErrorCode
from harness.run import NodeReport, RunStatus
from harness.schedule import NodeStatus


def effects_happen_once(facts: Facts) -> Iterator[Finding]:
    """An effect happens exactly once for each call that is DONE, and at most once for any other."""
    counts = facts.count(What.EFFECT)
    done = {
        facts.key(call)
        for call in facts.calls
        if call.outcome is Outcome.DONE and is_writing(call) and not call.is_reused
    }
    for key in sorted(done - counts.keys()):
        yield Rule.EFFECT_MISSING, f"{key} is DONE, but the world has not changed"
    for key, count in counts.items():
        if count > 1:
            yield Rule.EFFECT_REPEATED, f"{key} changed the world {count} times: {facts.lines(key)}"


def no_effect_is_lost(facts: Facts) -> Iterator[Finding]:
    """Each DONE node of a run that succeeded has an effect of its own, a reused one that of an equal earlier call."""
    result = facts.run.result
    if result is None or result.status is not RunStatus.SUCCEEDED:
        return
    effects = [entry for entry in facts.entries if entry.what is What.EFFECT]
    last_attempt = max((call.attempt for call in facts.calls), default=0)
    for report in result.plan:
        if report.status is not NodeStatus.DONE or EFFECTS[report.node.tool] is Effect.READ:
            continue
        if report.reused:
            if not any(_is_equal(entry, report) and entry.attempt < last_attempt for entry in effects):
                yield (
                    Rule.EFFECT_LOST,
                    f"{report.node.id} is reused, but no equal call of an earlier attempt had effect",
                )
        else:
            own = [entry for entry in effects if entry.node_id == report.node.id]
            if len(own) != 1:
                yield Rule.EFFECT_LOST, f"{report.node.id} is DONE with {len(own)} effects of its own: {own}"


def writes_are_not_repeated(facts: Facts) -> Iterator[Finding]:
    """A WRITE is begun once, whatever happens, in all attempts together."""
    lines = [e for e in facts.entries if e.what is What.BEGIN and EFFECTS[e.tool] is Effect.WRITE]
    for node_id, count in Counter(entry.node_id for entry in lines).items():
        if count > 1:
            keys = sorted({entry.key for entry in lines if entry.node_id == node_id})
            yield Rule.WRITE_REPEATED, f"{node_id} began {count} times: {[facts.lines(key) for key in keys]}"
    started = Counter(call.activity_id for call in _writes_of(facts) if call.tries and not call.is_reused)
    for activity_id, count in started.items():
        if count > 1:
            yield Rule.WRITE_REPEATED, f"{activity_id} was dispatched and started {count} times"


def uncertainty_is_told(facts: Facts) -> Iterator[Finding]:
    """A WRITE whose answer was lost, and only such a one, is told as UNCERTAIN_EFFECT."""
    if facts.run.result is None:
        return
    told = {report.node.id: report.error_code for report in facts.run.result.plan}
    begun = facts.count(What.BEGIN)
    for call in {call.node_id: call for call in _writes_of(facts)}.values():
        is_uncertain = told.get(call.node_id) is ErrorCode.UNCERTAIN_EFFECT
        line = f"{call.node_id} ended {call.outcome} after {call.tries} tries, told as {told.get(call.node_id)}"
        if call.outcome is Outcome.FAILED and not begun[facts.key(call)]:
            if is_uncertain:
                yield Rule.FALSE_UNCERTAINTY, f"{line}, but it never began"
        elif is_uncertain != (call.outcome is not Outcome.DONE and call.tries > 0):
            yield Rule.WRITE_UNTOLD, line


EFFECT_CHECKS: tuple[Check, ...] = (
    effects_happen_once,
    no_effect_is_lost,
    writes_are_not_repeated,
    uncertainty_is_told,
)


def _writes_of(facts: Facts) -> tuple[Call, ...]:
    return tuple(call for call in facts.calls if EFFECTS[call.tool] is Effect.WRITE)


def _is_equal(entry: Entry, report: NodeReport) -> bool:
    return (entry.tool, entry.seed) == (report.node.tool, seed_of(report.node))
