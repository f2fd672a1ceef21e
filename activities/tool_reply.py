"""The reply of a tool call: what the tool has given, and what the call has cost."""

from dataclasses import field
from typing import Any

from pydantic import JsonValue
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from activities.try_ledger import TryLedger
from harness.calls import ToolReply
from harness.record import record
from harness.usage import Usage

_JSON = {"encoding": b"json/plain"}


@record()
class Outcome:
    """What a call has come to."""

    fields: dict[str, Any] = field(default_factory=dict)
    """Fields of the reply beside its value."""
    value: JsonValue = None
    data: bytes = b""
    """The value as JSON; empty when the reply has none."""


def tool_reply(ledger: TryLedger, usage: Usage, outcome: Outcome) -> ToolReply | RawValue:
    """Return the reply with the fields that say something only: each byte is kept in history.

    Most tell a value and when the try ran, and nothing else. These are written as the model would be, around the value,
    which is JSON already.
    """
    timing = {"latency_ms": ledger.latency_ms, "queue_ms": ledger.queue_ms}
    told: dict[str, Any] = {"usage": usage if usage.model else None, "tries": ledger.tries, **outcome.fields}
    if outcome.data and ledger.try_number == 1 and not any(told.values()):
        times = b"".join(b'"%b":%d,' % (name.encode(), value) for name, value in timing.items() if value)
        return RawValue(Payload(metadata=_JSON, data=b'{%b"value":%b}' % (times, outcome.data)))
    if ledger.try_number > 1:
        told["try_number"] = ledger.try_number
    value = {"value": outcome.value} if outcome.data else {}
    return ToolReply.model_validate(value | {name: said for name, said in (timing | told).items() if said})
