"""The state that one agent loop workflow owns: what every run has, the rules' own state, and where the rest is kept."""

from dataclasses import dataclass, field
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.agent_state import AgentState
    from harness.artifact import Artifact
    from harness.budget import Budget
    from harness.call_check import CallRules
    from harness.catalog import Catalog, ModelCard, ToolSpec
    from harness.loop import LoopPhase, StepPage, StepRecord
    from harness.loop_calls import LOOP_INLINE_BYTES
    from harness.loop_carry import LoopCarry, LoopInput
    from harness.model_choice import ModelRole
    from harness.offered_tools import offered_tools
    from harness.usage import NO_USAGE, Usage

from workflows.node_state import NodeState
from workflows.run_core import RunCore, request_of

RECENT_STEPS = 50
"""Newest step records that are at hand for the state and a partial answer."""


@dataclass
class LoopState(RunCore):
    """Everything that an agent loop knows about itself."""

    phase: LoopPhase = LoopPhase.CREATED
    agent: AgentState | None = None
    frame: Artifact | None = None
    conversation: Artifact | None = None
    facts: Artifact | None = None
    catalog_page: Artifact | None = None
    """Where the catalog is, once the loop has continued as new."""
    steps: list[StepRecord] = field(default_factory=list)
    """Records that are in no page."""
    recent: list[StepRecord] = field(default_factory=list)
    """The newest records, those in pages included."""
    step_pages: list[StepPage] = field(default_factory=list)
    in_flight: dict[str, NodeState] = field(default_factory=dict)
    """Calls that are under way, by their ids."""
    usage: Usage = NO_USAGE
    answered_by: str = ""
    """The model of the steps, by the name it was asked for."""
    has_written: bool = False
    """Whether a WRITE was called that may have had its effect."""
    continued: int = 0

    @classmethod
    def begin(cls, given: LoopInput) -> "LoopState":
        """Start a loop, or take it up again after continue-as-new."""
        info, carry = workflow.info(), given.carry
        request = request_of(given, is_carried=carry is not None)
        queue = given.activity_queue or None
        if carry is None:
            budget = Budget(request.options.limits)
            return cls(request, info.workflow_id, workflow.now(), budget, queue, inline_bytes=LOOP_INLINE_BYTES)
        return cls(
            request,
            info.workflow_id,
            carry.started_at,
            Budget(carry.limits, carry.ledger),
            queue,
            inline_bytes=LOOP_INLINE_BYTES,
            **_taken_from(carry),
        )

    @property
    def model(self) -> str:
        """Return the model that took the steps, before that the one that is to; empty before either is known."""
        return self.answered_by or (self.card.name if self.catalog else "")

    @property
    def card(self) -> ModelCard:
        """Return the card by which steps are reserved."""
        return self.known_catalog.card_of(ModelRole.STEPS)

    @property
    def known_catalog(self) -> Catalog:
        """Return the catalog; there is one from the first step on."""
        if self.catalog is None:
            msg = "the loop has no catalog yet"
            raise RuntimeError(msg)
        return self.catalog

    @property
    def rules(self) -> AgentState:
        """Return the state of the rules; there is one from the first step on."""
        if self.agent is None:
            msg = "the loop has not begun yet"
            raise RuntimeError(msg)
        return self.agent

    def tool(self, name: str) -> ToolSpec:
        """Return a tool that may be called: the rules have checked its name."""
        return next(tool for tool in self.offered if tool.name == name)

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        """Return what the model may call, the built-in tools included."""
        return offered_tools(self.known_catalog)

    @property
    def call_rules(self) -> CallRules:
        """Return what calls are checked against."""
        return CallRules(self.offered, self.known_catalog.withheld, self.known_catalog.left_out)

    @property
    def best_answer(self) -> str | None:
        """Return the model's answer as far as there is one: also one that came too late, or was to be corrected."""
        if self.agent is None:
            return None
        return self.agent.end.answer if self.agent.end else self.agent.draft

    def record(self, step: StepRecord) -> None:
        """Add a record to the history of steps."""
        self.steps.append(step)
        self.recent.append(step)
        del self.recent[:-RECENT_STEPS]


def _taken_from(carry: LoopCarry) -> dict[str, Any]:
    return {
        "attempt_started_at": carry.attempt_started_at,
        "frame": carry.frame,
        "conversation": carry.conversation,
        "facts": carry.facts,
        "catalog_page": carry.catalog,
        "recent": list(carry.recent),
        "step_pages": list(carry.step_pages),
        "trace": list(carry.trace.texts),
        "trace_pages": list(carry.trace_pages),
        "usage": carry.usage,
        "answered_by": carry.answered_by,
        "applied_messages": dict.fromkeys(carry.applied_messages),
        "pressure_reported": carry.pressure_reported,
        "guardrails": dict.fromkeys(carry.guardrails),
        "ungrounded": carry.ungrounded,
        "has_written": carry.has_written,
        "continued": carry.continued,
    }
