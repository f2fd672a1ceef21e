"""What a run knows of one node so far."""

from dataclasses import dataclass, field

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.catalog import ToolRole
    from harness.errors import ErrorCode
    from harness.plan import PlanNode
    from harness.run import NodeReport
    from harness.schedule import NodeStatus
    from harness.usage import Usage


@dataclass
class NodeState:
    """What is known of one node so far."""

    node: PlanNode
    role: ToolRole
    status: NodeStatus = NodeStatus.PENDING
    tries: int = 0
    usage: Usage = field(default_factory=Usage)
    latency_ms: int | None = None
    error: str | None = None
    error_code: ErrorCode | None = None
    reused: bool = False

    def report(self) -> NodeReport:
        """Return the node for results and queries."""
        return NodeReport(
            node=self.node,
            role=self.role,
            status=self.status,
            tries=self.tries,
            usage=self.usage,
            latency_ms=self.latency_ms,
            error=self.error,
            error_code=self.error_code,
            reused=self.reused,
        )
