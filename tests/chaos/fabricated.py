"""Fabricated evidence: a round of three nodes in which all is well, to be spoilt one thing at a time."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from chaos.checks import violations_of
from chaos.evidence import Call, Outcome, RoundEvidence, RunEvidence
from chaos.facts import Rule
from chaos.ledger import Entry, What
from chaos.plans import FOLD, POST, PUT
from harness.budget import BudgetSnapshot
from harness.run import NodeReport, RunResult, RunStatus
from harness.schedule import NodeStatus
from tests.builders import node, plan

PLAN = plan(node("put", PUT), node("post", POST), node("report", FOLD, deps=["put", "post"]))
CALLS = tuple(Call(f"{name}@0", tool, 1, Outcome.DONE, at) for name, tool, at in (("put", PUT, 10), ("post", POST, 20)))
REPORT_CALL = Call("report@0", FOLD, 1, Outcome.DONE, 30)


def budget(tool_calls: int = 3) -> BudgetSnapshot:
    return BudgetSnapshot(
        tokens=0,
        max_tokens=1,
        tool_calls=tool_calls,
        max_tool_calls=100,
        cost_usd=Decimal(0),
        max_cost_usd=Decimal(1),
        elapsed=timedelta(0),
        max_wall_clock=timedelta(minutes=1),
        pressure=0.0,
    )


def result(**changes: Any) -> RunResult:
    """Return the result of a run that succeeded."""
    nodes = tuple(NodeReport(node=each, status=NodeStatus.DONE, tries=1) for each in PLAN.nodes)
    whole: dict[str, Any] = {
        "run_id": "r",
        "session_id": "",
        "status": RunStatus.SUCCEEDED,
        "report": "the report",
        "plan": nodes,
        "budget": budget(),
    }
    return RunResult(**(whole | changes))


def run(run_id: str = "r", **changes: Any) -> RunEvidence:
    """Return the evidence of a run that succeeded."""
    whole: dict[str, Any] = {"run_id": run_id, "result": result(), "calls": (*CALLS, REPORT_CALL), "lost": 0}
    return RunEvidence(**(whole | changes))


def entry(what: What, name: str, at: float, *, tool: str | None = None, **changes: Any) -> Entry:
    """Return a line of the ledger."""
    tools = {each.id: each.tool for each in PLAN.nodes}
    whole: dict[str, Any] = {
        "what": what,
        "key": f"r/{name}@0",
        "run_id": "r",
        "node_id": name,
        "tool": tool or tools[name],
        "try_number": 1,
        "arguments": f"digest of {name}",
        "pid": 7,
        "at": at,
    }
    return Entry(**(whole | changes))


LEDGER = (
    entry(What.BEGIN, "put", 1),
    entry(What.EFFECT, "put", 2),
    entry(What.END, "put", 3),
    entry(What.BEGIN, "post", 11),
    entry(What.EFFECT, "post", 12),
    entry(What.END, "post", 13),
    entry(What.BEGIN, "report", 21),
    entry(What.END, "report", 22),
)


def evidence(*ledger: Entry, **changes: Any) -> RoundEvidence:
    """Return a round in which all is well; more lines of the ledger, or another run, spoil it."""
    calm = run("calm")
    calm_lines = tuple(
        line.model_copy(update={"run_id": "calm", "key": line.key.replace("r/", "calm/")}) for line in LEDGER
    )
    whole = RoundEvidence(calm=calm, runs=(run(),), ledger=(*calm_lines, *LEDGER, *ledger))
    return replace(whole, **changes)


def without(what: What, name: str) -> tuple[Entry, ...]:
    """Return the ledger of a round without one line of the run."""
    return tuple(e for e in evidence().ledger if (e.what, e.node_id, e.run_id) != (what, name, "r"))


def broken(round_: RoundEvidence) -> set[Rule]:
    """Return the rules that a round breaks."""
    return {violation.rule for violation in violations_of(round_)}
