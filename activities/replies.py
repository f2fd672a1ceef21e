"""Replies of activities, with the fields that say something only: history pays for every byte."""

from typing import TypeVar

from activities.try_ledger import TryLedger
from harness.calls import Timing

Reply = TypeVar("Reply", bound=Timing)

_SAID_WHEN_ZERO = frozenset({"prompt_tokens", "context_tokens", "summarised"})
"""Fields without a default in some reply."""


def reply_of(kind: type[Reply], ledger: TryLedger, **told: object) -> Reply:
    """Return a reply with what is told, and when and how often it was tried."""
    number = {"try_number": ledger.try_number} if ledger.try_number > 1 else {}
    timing = {"latency_ms": ledger.latency_ms, "queue_ms": ledger.queue_ms, "tries": ledger.tries}
    fields = {name: value for name, value in (told | timing).items() if value or name in _SAID_WHEN_ZERO}
    return kind.model_validate(fields | number)
