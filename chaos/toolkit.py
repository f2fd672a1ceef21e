"""Tools that can be killed at any moment: each try is in the ledger, each result follows from the arguments alone."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta

from pydantic import BaseModel, JsonValue

from activities.toolkit import Report, Tool, ToolContext, Toolkit, tool
from chaos.ledger import Entry, Ledger, What
from chaos.plans import BRITTLE_READ, FOLD, POST, PUT, READ
from harness.catalog import Effect, ToolRole
from harness.errors import ErrorCode, ToolError

NAME = "chaos"
TIMEOUT = timedelta(seconds=20)
MANY_TRIES = 10
"""More than the kills of a round and the failures of a node together. A WRITE asks for them too, in vain."""
FEW_TRIES = 2
"""Used up by one failure and one kill, so that the run must go to RETRYING."""
RETRY_AFTER_S = 0.05
REPORT_NAP_MS = 100
EFFECTS = {
    READ: Effect.READ,
    BRITTLE_READ: Effect.READ,
    PUT: Effect.IDEMPOTENT_WRITE,
    POST: Effect.WRITE,
    FOLD: Effect.READ,
}
"""What each tool may do to the world."""
REPORTING = frozenset({FOLD})
"""Tools whose results are never reused."""


class Finding(BaseModel):
    """What every tool but the report returns."""

    digest: str
    """Follows from the number of the node and everything that it was given."""
    text: str
    """Filler of the asked size."""


def chaos_toolkit(ledger: Ledger) -> Toolkit:
    """Return the tools that chaos.plans draws plans of."""

    def nothing(_: "_Call") -> None:
        """Leave the world as it is."""

    return Toolkit(
        NAME,
        (
            _working_tool(ledger, READ, nothing, max_tries=MANY_TRIES),
            _working_tool(ledger, BRITTLE_READ, nothing, max_tries=FEW_TRIES),
            _working_tool(ledger, PUT, _Call.apply_once, max_tries=MANY_TRIES),
            _working_tool(ledger, POST, _Call.apply, max_tries=MANY_TRIES),
            _report_tool(ledger),
        ),
    )


def _working_tool(ledger: Ledger, name: str, change: "Callable[[_Call], None]", *, max_tries: int) -> Tool:
    async def work(
        *,
        seed: int,
        nap_ms: int,
        size: int,
        failures: int,
        context: ToolContext,
        sources: list[JsonValue] | None = None,
        is_vague: bool = False,
    ) -> Finding:
        """Work for a while, change the world or not, and work on; what is asked in vague words needs another plan."""
        call = _Call(ledger, context, name, [seed, sources], seed=seed)
        call.begin(failures)
        if is_vague:
            call.refuse()
        await _nap(nap_ms / 2)
        change(call)
        await _nap(nap_ms / 2)
        return call.end(size)

    work.__name__ = name
    return tool(effect=EFFECTS[name], max_tries=max_tries, timeout=TIMEOUT)(work)


def _report_tool(ledger: Ledger) -> Tool:
    async def fold(sources: list[JsonValue], context: ToolContext) -> Report:
        """Write the report: what came of everything."""
        call = _Call(ledger, context, FOLD, [sources])
        call.begin(0)
        await _nap(REPORT_NAP_MS)
        return Report(report=f"{len(sources)} sources give {call.end(0).digest}")

    return tool(role=ToolRole.FINAL_SYNTHESIS, max_tries=MANY_TRIES, timeout=TIMEOUT)(fold)


class _Call:
    """One try of a tool, as the ledger sees it."""

    def __init__(
        self, ledger: Ledger, context: ToolContext, tool_name: str, arguments: JsonValue, *, seed: int | None = None
    ) -> None:
        self._ledger = ledger
        self._context = context
        self._tool = tool_name
        self._seed = seed
        self._arguments = hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()

    def _entry(self, what: What) -> Entry:
        context = self._context
        return Entry(
            what=what,
            key=context.idempotency_key,
            run_id=context.run_id,
            node_id=context.node_id,
            tool=self._tool,
            try_number=context.try_number,
            arguments=self._arguments,
            seed=self._seed,
        )

    def begin(self, failures: int) -> None:
        """Begin the try; so many first tries of a node fail by themselves."""
        self._ledger.write(self._entry(What.BEGIN))
        if self._context.try_number <= failures:
            self._ledger.write(self._entry(What.FAIL))
            number = self._context.try_number
            raise ToolError(ErrorCode.RATE_LIMITED, f"try {number} fails by plan", retry_after_s=RETRY_AFTER_S)

    def refuse(self) -> None:
        """Fail in a way that only another plan cures."""
        self._ledger.write(self._entry(What.FAIL))
        raise ToolError(ErrorCode.MISSING_INFO, "the words are vague by plan")

    def apply(self) -> None:
        """Change the world, whether or not that was done before."""
        self._ledger.write(self._entry(What.EFFECT))

    def apply_once(self) -> None:
        """Change the world unless that was done with the same key."""
        self._ledger.apply_once(self._entry(What.EFFECT))

    def end(self, size: int) -> Finding:
        self._ledger.write(self._entry(What.END))
        digest = self._arguments
        return Finding(digest=digest, text=(digest * (size // len(digest) + 1))[:size])


async def _nap(milliseconds: float) -> None:
    await asyncio.sleep(milliseconds / 1000)
