"""Verification: whether a finished plan really gave a report that may be published."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from harness.artifact import Artifact, Result, StoredArgument
from harness.binding import Arguments
from harness.catalog import Catalog, ToolRole
from harness.errors import bounded, listed
from harness.plan import Plan, PlanNode
from harness.schedule import NodeStatus


class Verdict(BaseModel):
    """The verifier's answer. Only an explicit pass publishes the report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Literal["PASSED", "REJECTED", "NOT_VERIFIED"]
    """REJECTED: a rule is broken. NOT_VERIFIED: the check itself could not be made."""
    reasons: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether the report may be published."""
        return self.outcome == "PASSED"

    @property
    def reason(self) -> str:
        """Return all reasons in one line; "passed" when there is nothing to say."""
        return "; ".join(self.reasons) or self.outcome.lower().replace("_", " ")


PASSED = Verdict(outcome="PASSED")
MAX_REASONS = 20
MAX_REASON_CHARS = 500


def bounded_verdict(verdict: Verdict) -> Verdict:
    """Return a verdict of bounded size: whoever made it may have had any number of reasons of any length."""
    reasons = [bounded(reason, MAX_REASON_CHARS) for reason in verdict.reasons[:MAX_REASONS]]
    if len(verdict.reasons) > MAX_REASONS:
        reasons[-1] = f"and {len(verdict.reasons) - MAX_REASONS + 1} more reasons"
    return verdict if tuple(reasons) == verdict.reasons else verdict.model_copy(update={"reasons": tuple(reasons)})


def report_text(result: Result) -> str | None:
    """Return the text of a FINAL_SYNTHESIS result, or None when it is not a report object."""
    report = result.get("report") if isinstance(result, dict) else None
    return report if isinstance(report, str) else None


def verify_structure(
    plan: Plan, catalog: Catalog, statuses: Mapping[str, NodeStatus], results: Mapping[str, Result]
) -> Verdict:
    """Check the shape of a finished plan, all rules at once.

    Source: harness-demo ReportVerifier; its rules that a valid plan already keeps are kept as a second lock.
    """
    finals = _finals(plan, catalog)
    if len(finals) != 1:
        return Verdict(
            outcome="REJECTED", reasons=(f"the plan needs exactly one FINAL_SYNTHESIS node, it has {len(finals)}",)
        )
    final = finals[0]
    reasons = []
    if statuses.get(final.id) is not NodeStatus.DONE:
        reasons.append(f"FINAL_SYNTHESIS node {final.id!r} must be DONE, it is {statuses.get(final.id)}")
    bad = [n.id for n in plan.nodes if statuses.get(n.id) is not NodeStatus.DONE and n.id != final.id]
    if bad:
        reasons.append(f"the plan has failed or skipped nodes, or nodes that did not end: {listed(bad)}")
    open_deps = [dep for dep in final.deps if statuses.get(dep) is not NodeStatus.DONE]
    if open_deps:
        reasons.append(f"all dependencies must be DONE before the report counts: {listed(open_deps)}")
    if not reasons:
        reasons.extend(_report_reasons(final.id, results.get(final.id)))
    return Verdict(outcome="REJECTED", reasons=tuple(reasons)) if reasons else PASSED


def final_node_id(plan: Plan, catalog: Catalog) -> str:
    """Return the id of the FINAL_SYNTHESIS node of a valid plan."""
    return _finals(plan, catalog)[0].id


def sources_of(plan: Plan, node_id: str, results: Mapping[str, Result]) -> Arguments:
    """Return the results of a node's dependencies by tool name; a tool called more than once gives a list."""
    nodes = {node.id: node for node in plan.nodes}
    by_tool: dict[str, list[Result]] = {}
    for dep in dict.fromkeys(nodes[node_id].deps):
        by_tool.setdefault(nodes[dep].tool, []).append(results.get(dep))
    values: dict[str, JsonValue] = {}
    stored: list[StoredArgument] = []
    for tool, found in by_tool.items():
        inline = [None if isinstance(result, Artifact) else result for result in found]
        values[tool] = inline[0] if len(found) == 1 else [*inline]
        for index, result in enumerate(found):
            if isinstance(result, Artifact):
                place = None if len(found) == 1 else index
                stored.append(StoredArgument(name=tool, index=place, artifact=result))
    return Arguments(values, tuple(stored))


def _report_reasons(node_id: str, result: Result) -> list[str]:
    text = report_text(result)
    if text is None:
        return [f"the result of {node_id!r} is no FinalReport: an object with a text field `report` is needed"]
    return [] if text.strip() else [f"the report of {node_id!r} must not be blank"]


def _finals(plan: Plan, catalog: Catalog) -> list[PlanNode]:
    roles = {tool.name: tool.role for tool in reversed(catalog.tools)}
    return [node for node in plan.nodes if roles.get(node.tool) is ToolRole.FINAL_SYNTHESIS]
