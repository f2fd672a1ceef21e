from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from harness.budget import Budget, Limits
from harness.details import MAX_ROWS, render_details
from harness.run import NodeReport, RunPhase, RunStatus, RunView, draft_nodes
from harness.schedule import NodeStatus
from tests.builders import chain, node

BUDGET = Budget(Limits(max_cost_usd=Decimal("0.50"))).snapshot(timedelta(seconds=12))


def shown(of: RunView) -> str:
    """Return the details without the padding of their cells."""
    return render_details(of).replace("\u00a0", "")


def view(*nodes: NodeReport, **fields: object) -> RunView:
    given: dict[str, object] = {"attempt": 0, "phase": RunPhase.EXECUTING, "model": "small", "budget": BUDGET} | fields
    return RunView.model_validate({"run_id": "run", "session_id": "s", "goal": "g", "nodes": nodes} | given)


def test_shows_phase_budget_and_a_row_for_each_node() -> None:
    done = NodeReport(node=node("facts"), status=NodeStatus.DONE, tries=2, latency_ms=15)
    reused = NodeReport(node=node("games"), status=NodeStatus.DONE, reused=True)
    failed = NodeReport(node=node("prices"), status=NodeStatus.FAILED, tries=1, error="no prices")

    assert shown(view(done, reused, failed)).splitlines() == [
        "**EXECUTING** · attempt 0 · model small",
        "",
        "| budget | used | limit |",
        "| --- | --- | --- |",
        "| tokens | 0 | 20000 |",
        "| tool calls | 0 | 50 |",
        "| USD | 0 | 0.50 |",
        "| seconds | 12.0 | 120 |",
        "| pressure | 0.10 | 1.00 |",
        "",
        "| node | tool | status | tries | ms | note |",
        "| --- | --- | --- | --- | --- | --- |",
        "| facts | read | DONE | 2 | 15 |  |",
        "| games | read | DONE | 0 |  | reused |",
        "| prices | read | FAILED | 1 |  | no prices |",
    ]


def test_shows_the_final_status_and_what_is_not_known() -> None:
    unsure = replace(BUDGET, cost_known=False, estimated=True)
    text = shown(view(status=RunStatus.CANCELLED, model="", budget=unsure))

    assert "**CANCELLED** · attempt 0 · model not known yet" in text
    assert "| tokens | 0 (estimated) |" in text
    assert "| USD | 0 and more (a price is unknown) |" in text
    assert "| node |" not in text


def test_sums_up_a_large_plan() -> None:
    nodes = draft_nodes(chain(MAX_ROWS + 1))

    text = shown(view(*nodes, counts={NodeStatus.PENDING: len(nodes)}))

    assert text.endswith("51 nodes: 51 PENDING")


def test_keeps_foreign_text_inside_its_cell() -> None:
    failed = NodeReport(node=node("a"), status=NodeStatus.FAILED, error="x | <b>\nnew `row` " + "y" * 500)

    row = shown(view(failed)).splitlines()[-1]

    assert row.startswith("| a | read | FAILED | 0 |  | x \\| \\<b\\> new \\`row\\` yyy")
    assert len(row) < 200
