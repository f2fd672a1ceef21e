"""How an event is written: as the JSON that pydantic would make of a TraceEvent, which takes much longer."""

import math
from datetime import datetime, timedelta
from json.encoder import encode_basestring as quoted_json

from pydantic import JsonValue, TypeAdapter
from pydantic_core import SchemaSerializer
from pydantic_core.core_schema import any_schema

from harness.budget import Amount, Budget, Ledger, Limits
from harness.catalog import ToolRole
from harness.trace import TraceKind

_TIME = TypeAdapter(datetime)
_SPAN = TypeAdapter(timedelta)
_ANYTHING = SchemaSerializer(any_schema(), {"ser_json_inf_nan": "null"})


class TraceWriter:
    """Writes the events of one run.

    A plan makes two events a node, and many of them in one workflow task, at one and the same time: what they share is
    written once.
    """

    def __init__(self, run_id: str, session_id: str) -> None:
        """Write for a run."""
        self._ids = f'"run_id":{quoted_json(run_id)},"session_id":{quoted_json(session_id)}'
        self._head = self._elapsed_text = ""
        self._elapsed = timedelta(0)
        self._limits: Limits | None = None
        self._limit_texts = ("", "", "", "")
        self._spent: tuple[Limits, Ledger] | None = None
        """Of what the texts below tell."""
        self._spent_texts = ("", "")

    def at(self, now: datetime, elapsed: timedelta) -> None:
        """Write what comes now as of this moment, so long after the start of the run."""
        self._head = f'{{"timestamp":{_TIME.dump_json(now).decode()},{self._ids}'
        self._elapsed, self._elapsed_text = elapsed, _SPAN.dump_json(elapsed).decode()
        self._spent = None

    def write(
        self,
        kind: TraceKind,
        status: str,
        budget: Budget,
        *,
        attempt: int,
        role: ToolRole | None = None,
        node_id: str | None = None,
        latency_ms: int | None = None,
        message: str | None = None,
        data: dict[str, JsonValue] | None = None,
    ) -> bytes:
        """Return the JSON of an event."""
        return (
            f'{self._head},"attempt":{attempt},"kind":"{kind}","role":{_quoted(role)},"node_id":{_quoted(node_id)}'
            f',"status":{quoted_json(status)},"latency_ms":{"null" if latency_ms is None else latency_ms}'
            f',"message":{_quoted(message)},"budget":{self._budget(budget)}'
            f',"data":{_ANYTHING.to_json(data).decode() if data else "{}"}}}'
        ).encode()

    def _budget(self, budget: Budget) -> str:
        """Return the JSON of the snapshot of a budget; what is spent changes less often than what is reserved."""
        known = self._spent
        if known is None or known[1] is not budget.ledger or known[0] is not budget.limits:
            self._spent, self._spent_texts = (budget.limits, budget.ledger), self._written(budget)
        before, after = self._spent_texts
        return f'{before},"reserved":{_amount(budget.reserved)}{after}'

    def _written(self, budget: Budget) -> tuple[str, str]:
        if budget.limits is not self._limits:
            self._limits, self._limit_texts = budget.limits, _limit_texts(budget.limits)
        tokens, tool_calls, cost_usd, wall_clock = self._limit_texts
        ledger = budget.ledger
        spent = ledger.spent
        before = (
            f'{{"tokens":{spent.tokens}{tokens},"tool_calls":{spent.tool_calls}{tool_calls}'
            f',"cost_usd":"{spent.cost_usd!s}"{cost_usd},"elapsed":{self._elapsed_text}{wall_clock}'
            f',"pressure":{_number(budget.pressure(self._elapsed))}'
        )
        cost_known, estimated = "true" if ledger.cost_known else "false", "true" if ledger.estimated else "false"
        return before, f',"cost_known":{cost_known},"estimated":{estimated}}}'


def _amount(amount: Amount) -> str:
    return f'{{"tokens":{amount.tokens},"tool_calls":{amount.tool_calls},"cost_usd":"{amount.cost_usd!s}"}}'


def _limit_texts(limits: Limits) -> tuple[str, str, str, str]:
    return (
        f',"max_tokens":{limits.max_tokens}',
        f',"max_tool_calls":{limits.max_tool_calls}',
        f',"max_cost_usd":"{limits.max_cost_usd!s}"',
        f',"max_wall_clock":{_SPAN.dump_json(limits.max_wall_clock).decode()}',
    )


def _number(pressure: float) -> str:
    return str(round(pressure, 4)) if math.isfinite(pressure) else "null"


def _quoted(text: str | None) -> str:
    return "null" if text is None else quoted_json(text)
