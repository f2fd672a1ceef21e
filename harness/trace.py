"""The trace: one event for each step and decision of a run, in the order in which they happened."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, JsonValue

from harness.artifact import Artifact
from harness.budget import BudgetSnapshot
from harness.catalog import ToolRole
from harness.record import record


class TraceKind(StrEnum):
    """What an event tells."""

    RUN_START = "run.start"
    PERMISSIONS_APPLY = "permissions.apply"
    """Tools were withheld from the run, or a pattern of its options matches none; left out when neither is so."""
    ROUTING_FINISH = "routing.finish"
    """Some of many tools were picked for the planner."""
    PLANNING_FINISH = "planning.finish"
    VALIDATION_FINISH = "validation.finish"
    NODE_START = "node.start"
    NODE_RETRY = "node.retry"
    """A try that failed and was followed by another one."""
    NODE_FINISH = "node.finish"
    NODE_FAIL = "node.fail"
    NODE_SKIP = "node.skip"
    NODE_REUSE = "node.reuse"
    """The node took the result of an equal DONE node of an earlier attempt; nothing was charged."""
    STEP_FINISH = "step.finish"
    """The model of an agent loop has said what is next."""
    CALL_REFUSE = "call.refuse"
    """A call of an agent loop was not made: unknown tool, wrong arguments, no permission, no budget."""
    LOOP_HINT = "loop.hint"
    """The model was told that it repeats itself, with what is known already."""
    LOOP_CLOSE = "loop.close"
    """The loop may go on no further; the model is asked to answer with what there is."""
    CONTEXT_TRIM = "context.trim"
    """Stale tool outputs were dropped from the prompt."""
    CONTEXT_SUMMARISE = "context.summarise"
    """Older steps were replaced by a summary."""
    GUARDRAIL_FLAG = "guardrail.flag"
    """A guardrail found something and let it pass, marked."""
    GUARDRAIL_CORRECT = "guardrail.correct"
    """A model was asked once more within the same call, because figures of its answer come from nowhere."""
    GUARDRAIL_BLOCK = "guardrail.block"
    """A guardrail stopped a call."""
    EXECUTION_FINISH = "execution.finish"
    RECOVERY_DECIDE = "recovery.decide"
    RETRYING_START = "retrying.start"
    REPLANNING_START = "replanning.start"
    VERIFICATION_FINISH = "verification.finish"
    BUDGET_PRESSURE = "budget.pressure"
    """Pressure reached the high threshold; once a run."""
    BUDGET_EXTEND = "budget.extend"
    """An operator raised the limits."""
    RUN_CONTINUE = "run.continue"
    """The plan goes on in the next workflow run of the chain, because the history of this one is long enough."""
    RUN_CANCEL = "run.cancel"
    RUN_FINISH = "run.finish"


@record(kw_only=True)
class TraceEvent:
    """One step or decision.

    No pydantic model, because a plan makes two of them a node.
    """

    timestamp: datetime
    """Workflow time."""
    run_id: str
    session_id: str
    attempt: int
    kind: TraceKind
    role: ToolRole | None = None
    """Role of the node's tool, for node events."""
    node_id: str | None = None
    status: str
    latency_ms: int | None = None
    """Execution time without queueing; queueing is in data."""
    message: str | None = None
    budget: BudgetSnapshot
    data: dict[str, JsonValue] = field(default_factory=dict)


class TracePage(BaseModel):
    """Older trace events, in the artifact store as a JSON list."""

    model_config = ConfigDict(frozen=True)

    artifact: Artifact
    events: int
    """How many events there are in it."""
