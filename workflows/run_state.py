"""The state that one orchestrator workflow owns: budget, trace, nodes, and what survives continue-as-new."""

from dataclasses import dataclass, field

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.artifact import Artifact, Result
    from harness.budget import Budget
    from harness.carry import RunInput
    from harness.catalog import Effect, ToolSpec
    from harness.errors import ErrorClass, ErrorCode
    from harness.plan import Plan
    from harness.run import AttemptRecord, NodeReport, RunPhase, RunStatus, draft_nodes
    from harness.schedule import NodeStatus
    from harness.verification import Verdict

from workflows.node_state import NodeState
from workflows.run_core import Ending, RunCore, request_of


@dataclass
class RunState(RunCore):
    """Everything that a plan run knows about itself."""

    phase: RunPhase = RunPhase.CREATED
    retries: int = 0
    plan: Plan | None = None
    planned_by: str = ""
    """The model that answered with the plan."""
    nodes: dict[str, NodeState] = field(default_factory=dict)
    counts: dict[NodeStatus, int] = field(default_factory=dict)
    """How many nodes there are in each state."""
    changed: dict[str, None] = field(default_factory=dict)
    """Ids of the nodes that are in no page as they are now."""
    results: dict[str, Result] = field(default_factory=dict)
    """Results of the DONE nodes of the plan, by node id."""
    refusal: str | None = None
    """Why work of the plan was not started, once that has happened."""
    attempts: list[AttemptRecord] = field(default_factory=list)
    paid: dict[str, Result] = field(default_factory=dict)
    """Results of earlier attempts that may be reused, by reuse key."""
    written: dict[str, Result] = field(default_factory=dict)
    """Results of tools that write, of all attempts: a later one must reuse them."""
    agent_writes: dict[str, None] = field(default_factory=dict)
    """Keys of what the agents of all attempts have written: nothing may write it again."""
    pages: list[Artifact] = field(default_factory=list)
    """Pages of the state of this attempt, from earlier workflow runs of the chain."""
    verdict: Verdict | None = None

    @classmethod
    def begin(cls, given: RunInput) -> "RunState":
        """Start a run, or take it up again after continue-as-new."""
        info, carry = workflow.info(), given.carry
        request = request_of(given, is_carried=carry is not None)
        if carry is None:
            budget = Budget(request.options.limits)
            return cls(request, info.workflow_id, workflow.now(), budget, given.activity_queue or None)
        return cls(
            request,
            info.workflow_id,
            carry.started_at,
            Budget(carry.limits, carry.ledger),
            given.activity_queue or None,
            attempt=carry.attempt,
            attempt_started_at=carry.attempt_started_at,
            retries=carry.retries,
            failures=list(carry.failures),
            trace=list(carry.trace.texts),
            trace_pages=list(carry.trace_pages),
            pages=list(carry.pages),
            applied_messages=dict.fromkeys(carry.applied_messages),
            pressure_reported=carry.pressure_reported,
            feedback=carry.feedback,
            guardrails=dict.fromkeys(carry.guardrails),
            ungrounded=carry.ungrounded,
            refusal=carry.refusal,
        )

    @property
    def model(self) -> str:
        """Return the model that planned, before that the one that is to plan; empty before either is known."""
        return self.planned_by or (self.catalog.model.name if self.catalog else "")

    def keys_written(self) -> tuple[str, ...]:
        """See base class."""
        return tuple(key for key in self.written if key in self.paid)

    def earned(self) -> dict[str, Result]:
        """Return the results of tools that read which a later attempt may reuse, by reuse key."""
        tools = {tool.name: tool for tool in self.catalog.tools} if self.catalog else {}
        return {
            key: result
            for node_id, result in self.results.items()
            if tools[self.nodes[node_id].node.tool].effect is Effect.READ
            for key in self.nodes[node_id].keys
        }

    def note_written(self, tool: ToolSpec, node: NodeState) -> None:
        """Remember the result of a node, if its tool writes, for equal calls of later attempts."""
        if tool.effect is not Effect.READ:
            self.written.update(dict.fromkeys(node.keys, self.results[node.node.id]))

    def note_agent_writes(self, node: NodeState, written: tuple[str, ...]) -> None:
        """Remember what an agent has written."""
        node.written = tuple(dict.fromkeys((*node.written, *written)))
        self.agent_writes.update(dict.fromkeys(written))

    def take_nodes(self, nodes: dict[str, NodeState]) -> None:
        """Take the nodes of a plan as they are."""
        self.nodes, self.counts = nodes, {}
        for node in nodes.values():
            self.counts[node.status] = self.counts.get(node.status, 0) + 1

    def move(self, node: NodeState, status: NodeStatus) -> None:
        """Give a node another state."""
        self.counts[node.status] -= 1
        self.counts[status] = self.counts.get(status, 0) + 1
        super().move(node, status)
        self.changed[node.node.id] = None

    def end(
        self,
        status: RunStatus,
        *,
        report: str | None = None,
        error: str | None = None,
        error_code: ErrorCode | None = None,
        error_class: ErrorClass | None = None,
    ) -> RunPhase:
        """Set how the run ended and return the last phase."""
        self.ending = Ending.of(status, report=report, error=error, error_code=error_code, error_class=error_class)
        return RunPhase.FINISHED

    def node_reports(self) -> tuple[NodeReport, ...]:
        """Return every node of the current plan, in plan order, also of one that was refused."""
        if not self.nodes and self.plan is not None:
            return draft_nodes(self.plan)
        return tuple(node.report() for node in self.nodes.values())
