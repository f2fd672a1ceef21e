"""What a run knows of one node so far."""

from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.artifact import Result, StoredResult
    from harness.call import Call
    from harness.catalog import ToolRole
    from harness.errors import ErrorCode
    from harness.plan import PlanNode
    from harness.progress import NodeProgress
    from harness.run import NodeReport
    from harness.schedule import NodeStatus
    from harness.usage import NO_USAGE, Usage


@dataclass(slots=True)
class NodeState:
    """What is known of one node so far."""

    node: PlanNode
    role: ToolRole
    status: NodeStatus = NodeStatus.PENDING
    tries: int = 0
    usage: Usage = NO_USAGE
    latency_ms: int | None = None
    error: str | None = None
    error_code: ErrorCode | None = None
    reused: bool = False
    call: Call | None = None
    """The call whose result it has."""
    other_keys: tuple[str, ...] = ()
    """Keys of its result beside those of the call: what its worker tells, or an earlier workflow run has kept."""
    agents: int = 0
    """How many agents were started for it in this attempt."""
    written: tuple[str, ...] = ()
    """Keys of what its agents have written."""

    @classmethod
    def restored(cls, node: PlanNode, role: ToolRole, known: NodeProgress) -> "NodeState":
        """Return a node as an earlier workflow run of the chain has left it."""
        return cls(
            node,
            role,
            status=known.status,
            tries=known.tries,
            usage=known.usage,
            latency_ms=known.latency_ms,
            error=known.error,
            error_code=known.error_code,
            reused=known.reused,
            other_keys=known.keys,
            agents=known.agents,
            written=known.written,
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys under which its result may be reused."""
        return tuple(dict.fromkeys((*(self.call.keys if self.call else ()), *self.other_keys)))

    def progress(self, result: Result) -> NodeProgress:
        """Return the node for the next workflow run of the chain; the result counts for a DONE node only."""
        fields: dict[str, object] = {
            "tries": self.tries,
            "usage": self.usage if self.usage.model else None,
            "latency_ms": self.latency_ms,
            "error": self.error,
            "error_code": self.error_code,
            "reused": self.reused,
            "keys": self.keys,
            "agents": self.agents,
            "written": self.written,
        }
        told = {name: value for name, value in fields.items() if value or (name == "latency_ms" and value == 0)}
        if self.status is NodeStatus.DONE:
            told["result"] = StoredResult.of(result)
        return NodeProgress.model_validate({"status": self.status, **told})

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
