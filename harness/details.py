"""The Markdown that the Web UI shows as current details of a run."""

from harness.budget import BudgetSnapshot
from harness.run import NodeReport, RunView
from harness.schedule import NodeStatus

MAX_ROWS = 50
"""Plans with more nodes are summarised by status."""
PAD = "\u00a0\u00a0"
"""The Web UI draws tables without any space between their columns."""


def render_details(view: RunView) -> str:
    """Return the plan with statuses and tries, and the budget, as Markdown."""
    status = view.status or view.phase
    lines = [f"**{status}** · attempt {view.attempt} · model {view.model or 'not known yet'}", ""]
    lines += budget_table(view.budget)
    if view.nodes_dropped or len(view.nodes) > MAX_ROWS:
        lines += _summary(view.counts)
    elif view.nodes:
        lines += [
            "",
            cells(("node", "tool", "status", "tries", "ms", "note")),
            "| --- | --- | --- | --- | --- | --- |",
        ]
        lines += [_row(node) for node in view.nodes]
    return "\n".join(lines)


def budget_table(budget: BudgetSnapshot) -> list[str]:
    """Return the limits and what is used of them, as lines of a table."""
    cost = f"{budget.cost_usd:f}" + ("" if budget.cost_known else " and more (a price is unknown)")
    tokens = f"{budget.tokens}" + (" (estimated)" if budget.estimated else "")
    rows = (
        ("tokens", tokens, f"{budget.max_tokens}"),
        ("tool calls", f"{budget.tool_calls}", f"{budget.max_tool_calls}"),
        ("USD", cost, f"{budget.max_cost_usd:f}"),
        ("seconds", f"{budget.elapsed.total_seconds():.1f}", f"{budget.max_wall_clock.total_seconds():g}"),
        ("pressure", f"{budget.pressure:.2f}", "1.00"),
    )
    return [f"| budget{PAD} | used{PAD} | limit |", "| --- | --- | --- |", *(cells(row) for row in rows)]


def _summary(counts: dict[NodeStatus, int]) -> list[str]:
    total = sum(counts.values())
    return ["", f"{total} nodes: " + ", ".join(f"{count} {status}" for status, count in counts.items())]


def _row(node: NodeReport) -> str:
    note = "reused" if node.reused else (node.error or "")
    latency = "" if node.latency_ms is None else str(node.latency_ms)
    return cells((node.node.id, node.node.tool, str(node.status), str(node.tries), latency, note))


def cells(texts: tuple[str, ...]) -> str:
    """Return one row of a table."""
    return "| " + " | ".join(_cell(text) for text in texts) + " |"


def _cell(text: str) -> str:
    """Keep a text of a model or a tool inside its table cell."""
    one_line = " ".join(text.split())[:120]
    return "".join(f"\\{char}" if char in "|`*_[]<>\\" else char for char in one_line) + PAD
