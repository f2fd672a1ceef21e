"""The partial report of a run whose budget ended before its work did."""

import json
from collections.abc import Mapping

from harness.artifact import Artifact, Result
from harness.run import NodeReport
from harness.schedule import NodeStatus

SHOWN_CHARS = 600
MAX_NODES_SHOWN = 40


def partial_report(nodes: tuple[NodeReport, ...], results: Mapping[str, Result], why: str) -> str:
    """Say what stopped the run, show what it has found so far, and name what was not done."""
    lines = [f"Partial report: {why}."]
    done = [n for n in nodes if n.node.id in results]
    open_nodes = [n for n in nodes if n.node.id not in results]
    if done:
        lines += ["", f"Finished ({len(done)} of {len(nodes)} nodes):"]
        lines += [f"- {n.node.id} ({n.node.tool}): {_preview(results[n.node.id])}" for n in done[:MAX_NODES_SHOWN]]
    if open_nodes:
        lines += ["", "Not done:"]
        lines += [f"- {n.node.id} ({n.node.tool}): {_reason(n)}" for n in open_nodes[:MAX_NODES_SHOWN]]
    hidden = max(0, len(done) - MAX_NODES_SHOWN) + max(0, len(open_nodes) - MAX_NODES_SHOWN)
    return "\n".join([*lines, "", f"{hidden} more nodes are in the plan of the result."] if hidden else lines)


def _preview(value: Result) -> str:
    if isinstance(value, Artifact):
        return f"{value.preview} [cut; artifact {value.digest}]"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} [cut]"


def _reason(node: NodeReport) -> str:
    started = "" if node.status is NodeStatus.PENDING else f": {node.error}"
    return f"{node.status.lower()}{started}"
