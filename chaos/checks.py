"""The checks of a round: pure functions of its evidence, each of which names what is broken and shows it.

What is equal to what, when a worker was killed: Temporal counts a try as soon as it hands the task to a worker, and the
run is charged by that count. So `budget.tool_calls` equals the tries in history, always, for every run with a result.
The ledger counts a try when the first line of its tool has run. Between the two lie the way of the task to the worker,
the decoding of its arguments and the start of its heartbeat; a worker that dies there leaves a try that is charged, and
that no ledger knows. So for each call `begun <= tries`, and the difference is at most the number of tries that were
lost: those that the trace tells as "the worker was lost", and last ones that timed out. Without a kill it is 0.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from chaos.effect_checks import EFFECT_CHECKS
from chaos.evidence import Outcome, RoundEvidence
from chaos.facts import Check, Facts, Finding, Rule, Violation
from chaos.ledger import What
from chaos.message_checks import messages_are_applied_once
from chaos.reuse_checks import nothing_done_ran_again, nothing_paid_for_ran_again
from harness.errors import ErrorCode
from harness.run import RunStatus
from harness.schedule import NodeStatus


def violations_of(round_: RoundEvidence) -> tuple[Violation, ...]:
    """Return everything that is broken."""
    found = [Violation(Rule.PROCESS_DIED, "-", death) for death in round_.deaths]
    for run in (round_.calm, *round_.runs):
        facts = Facts.of(round_, run)
        found += [Violation(rule, run.run_id, why) for check in CHECKS for rule, why in check(facts)]
    return (*found, *_calm_is_exact(round_))


def ended(facts: Facts) -> Iterator[Finding]:
    """Every run has a result."""
    if facts.run.result is None:
        yield Rule.NOT_TERMINAL, "; ".join(facts.run.stuck)


def keys_are_stable(facts: Facts) -> Iterator[Finding]:
    """All tries of a call had the same key and arguments; distinct calls had distinct keys."""
    expected = {facts.key(call): call for call in facts.calls}
    for entry in {entry.key: entry for entry in facts.entries}.values():
        call = expected.get(entry.key)
        if call is None or (call.node_id, call.tool) != (entry.node_id, entry.tool):
            yield Rule.UNSTABLE_KEY, f"no call of history has the key of {entry}"
    arguments = defaultdict(set)
    for entry in facts.entries:
        arguments[entry.key].add(entry.arguments)
    for key, digests in arguments.items():
        if len(digests) > 1:
            yield Rule.UNSTABLE_KEY, f"tries of {key} had different arguments: {sorted(digests)}"


def budget_is_tries_made(facts: Facts) -> Iterator[Finding]:
    """The run is charged for the tries that Temporal made; no more began than that, and only lost ones are missing."""
    result = facts.run.result
    if result is None:
        return
    tries: Counter[str] = Counter()
    for call in facts.calls:
        tries[facts.key(call)] += call.charged
    if result.budget.tool_calls != tries.total():
        why = (
            f"charged {result.budget.tool_calls} tool calls, Temporal made {tries.total()} that found nothing to reuse"
        )
        yield Rule.WRONG_BUDGET, why
    begun = facts.count(What.BEGIN)
    for key, count in begun.items():
        if count > tries[key]:
            yield Rule.WRONG_BUDGET, f"{count} tries of {key} began, Temporal made {tries[key]}: {facts.lines(key)}"
    if facts.run.lost is None:
        return
    lost = facts.run.lost + sum(1 for call in facts.calls if call.outcome is Outcome.TIMED_OUT)
    if tries.total() - begun.total() > lost:
        yield Rule.WRONG_BUDGET, f"{tries.total()} tries were made, {begun.total()} began, but only {lost} were lost"


def result_is_that_of_a_calm_run(facts: Facts) -> Iterator[Finding]:
    """A run that succeeds reports what a run without faults does; any other has lost a WRITE, and says so."""
    result, calm = facts.run.result, facts.calm.result
    if result is None:
        return
    if result.status is not RunStatus.SUCCEEDED:
        if not any(node.error_code is ErrorCode.UNCERTAIN_EFFECT for node in result.plan):
            yield Rule.UNEXPLAINED_END, f"{result.status}: {result.error}"
    elif result.report is None or calm is None or result.report != calm.report:
        yield Rule.WRONG_REPORT, f"{result.report!r}, without faults {calm.report if calm else None!r}"
    elif any(node.status is not NodeStatus.DONE for node in result.plan):
        yield Rule.WRONG_REPORT, "SUCCEEDED with nodes that are not DONE"


def history_is_sound(facts: Facts) -> Iterator[Finding]:
    """Every history replays, and no workflow task failed."""
    yield from ((Rule.REPLAY_FAILED, failure) for failure in facts.run.replay_failures)
    yield from ((Rule.TASK_FAILED, failure) for failure in facts.run.task_failures)


CHECKS: tuple[Check, ...] = (
    ended,
    keys_are_stable,
    *EFFECT_CHECKS,
    budget_is_tries_made,
    result_is_that_of_a_calm_run,
    nothing_done_ran_again,
    nothing_paid_for_ran_again,
    messages_are_applied_once,
    history_is_sound,
)


def _calm_is_exact(round_: RoundEvidence) -> Iterator[Violation]:
    """Check the run without faults more strictly: it succeeds, and its three counts of tries are equal."""
    calm = round_.calm
    if calm.result is None:
        return
    if calm.result.status is not RunStatus.SUCCEEDED:
        yield Violation(Rule.UNEXPLAINED_END, calm.run_id, f"without faults {calm.result.status}")
    begun = sum(1 for entry in round_.ledger if entry.run_id == calm.run_id and entry.what is What.BEGIN)
    if begun != calm.result.budget.tool_calls:
        why = f"without faults {begun} tries began, {calm.result.budget.tool_calls} were charged"
        yield Violation(Rule.WRONG_BUDGET, calm.run_id, why)
