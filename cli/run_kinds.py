"""The two ways in which a run can work: its workflow, and what it answers and returns."""

from dataclasses import dataclass
from enum import StrEnum

from harness.loop import LoopResult, LoopView
from harness.run import RunResult, RunView

Result = RunResult | LoopResult
View = RunView | LoopView


class Mode(StrEnum):
    """How a run works."""

    PLAN = "plan"
    """A plan is drawn up, checked and executed."""
    LOOP = "loop"
    """A model picks one step at a time."""


@dataclass(frozen=True)
class RunKind:
    """A way to work, as a server knows it."""

    mode: Mode
    workflow_type: str
    result_type: type[RunResult] | type[LoopResult]
    view_type: type[RunView] | type[LoopView]
    """What the query `state` answers."""


KINDS = {
    Mode.PLAN: RunKind(Mode.PLAN, "OrchestratorWorkflow", RunResult, RunView),
    Mode.LOOP: RunKind(Mode.LOOP, "AgentLoopWorkflow", LoopResult, LoopView),
}
_BY_WORKFLOW_TYPE = {kind.workflow_type: kind for kind in KINDS.values()}


def kind_of(workflow_type: str) -> RunKind | None:
    """Return the kind of a run by the type of its workflow; None when that is no run."""
    return _BY_WORKFLOW_TYPE.get(workflow_type)
