"""What the checks of a round say: the rules, what breaks them, and the facts of one run that they look at."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from chaos.evidence import Call, RoundEvidence, RunEvidence
from chaos.ledger import Entry, What
from chaos.toolkit import EFFECTS
from harness.catalog import Effect


class Rule(StrEnum):
    """What must hold at the end of a round."""

    NOT_TERMINAL = "NOT_TERMINAL"
    """A run has no result within the limit."""
    UNSTABLE_KEY = "UNSTABLE_KEY"
    """Tries of one call had different keys or arguments, or two nodes had the same key."""
    EFFECT_REPEATED = "EFFECT_REPEATED"
    EFFECT_MISSING = "EFFECT_MISSING"
    WRITE_REPEATED = "WRITE_REPEATED"
    """A WRITE was begun more than once."""
    EFFECT_LOST = "EFFECT_LOST"
    """A node that writes is DONE in a run that succeeded, and no effect, or more than one, is its own."""
    WRITE_UNTOLD = "WRITE_UNTOLD"
    """A WRITE that may have been done is not reported UNCERTAIN_EFFECT, or one is that cannot have been."""
    FALSE_UNCERTAINTY = "FALSE_UNCERTAINTY"
    """A WRITE is reported UNCERTAIN_EFFECT that never began, and of which its worker has said so."""
    WRONG_BUDGET = "WRONG_BUDGET"
    """The run was charged for other tries than Temporal counted, or than the ledger saw begin."""
    WRONG_REPORT = "WRONG_REPORT"
    UNEXPLAINED_END = "UNEXPLAINED_END"
    """A run did not succeed though no WRITE of its was lost."""
    DONE_RAN_AGAIN = "DONE_RAN_AGAIN"
    REUSE_MISSED = "REUSE_MISSED"
    """A call ran though an earlier attempt had the result of an equal one."""
    MESSAGE_LOST = "MESSAGE_LOST"
    """A message that was accepted was not applied, or not once, or not in the order of its sender."""
    REPLAY_FAILED = "REPLAY_FAILED"
    TASK_FAILED = "TASK_FAILED"
    """A workflow task failed; those that were lost time out."""
    PROCESS_DIED = "PROCESS_DIED"
    """A worker or the server ended though nobody killed it."""


@dataclass(frozen=True)
class Violation:
    """A broken rule, where, and what shows it."""

    rule: Rule
    run_id: str
    evidence: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.rule} {self.run_id}: {self.evidence}"


@dataclass(frozen=True)
class Facts:
    """One run of a round, with what its checks look up."""

    run: RunEvidence
    calm: RunEvidence
    entries: tuple[Entry, ...]
    """Those of the run."""
    calls: tuple[Call, ...]
    """Those of tools."""

    @classmethod
    def of(cls, round_: RoundEvidence, run: RunEvidence) -> "Facts":
        """Pick what belongs to one run."""
        entries = tuple(entry for entry in round_.ledger if entry.run_id == run.run_id)
        return cls(run, round_.calm, entries, tuple(call for call in run.calls if call.tool in EFFECTS))

    def key(self, call: Call) -> str:
        """Return the key that a call must have had."""
        return f"{self.run.run_id}/{call.activity_id}"

    def count(self, what: What) -> Counter[str]:
        """Return the number of such lines by key."""
        return Counter(entry.key for entry in self.entries if entry.what is what)

    def lines(self, key: str) -> str:
        """Return what the ledger says of a call, as one line."""
        own = [entry for entry in self.entries if entry.key == key]
        return ", ".join(f"{e.what} try {e.try_number} pid {e.pid} at {e.at:.3f}" for e in own)


Finding = tuple[Rule, str]
Check = Callable[[Facts], Iterator[Finding]]


def is_writing(call: Call) -> bool:
    """Return whether a call may change the world."""
    return EFFECTS[call.tool] is not Effect.READ
