"""What a worker process serves, and with which changes to the product's settings: data that travels to it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from temporalio.worker import PollerBehaviorSimpleMaximum, UnsandboxedWorkflowRunner, WorkerConfig, WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

READY = "ready"
"""What a worker process prints when it serves."""
Sandbox = Literal["pass through all", "full", "none"]


class Knobs(BaseModel):
    """Changes to the product's worker settings; None leaves one as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    activity_pollers: int | None = None
    workflow_pollers: int | None = None
    cached_workflows: int | None = None
    is_eager: bool | None = None
    eager_reservations: int | None = None
    sandbox: Sandbox | None = None
    is_compressed: bool | None = None
    """Whether what goes over gRPC is compressed."""
    has_uvloop: bool = False

    def applied_to(self, config: WorkerConfig) -> WorkerConfig:
        """Return the configuration with these changes."""
        changes: WorkerConfig = {}
        if self.activity_pollers is not None:
            changes["activity_task_poller_behavior"] = PollerBehaviorSimpleMaximum(self.activity_pollers)
        if self.workflow_pollers is not None:
            changes["workflow_task_poller_behavior"] = PollerBehaviorSimpleMaximum(self.workflow_pollers)
        if self.cached_workflows is not None:
            changes["max_cached_workflows"] = self.cached_workflows
        if self.is_eager is not None:
            changes["disable_eager_activity_execution"] = not self.is_eager
        if self.eager_reservations is not None:
            changes["max_eager_activity_reservations_per_workflow_task"] = self.eager_reservations
        if self.sandbox is not None:
            changes["workflow_runner"] = _runner(self.sandbox)
        return {**config, **changes}


class WorkerSpec(BaseModel):
    """What a worker process serves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contender: str
    target: str
    queue: str
    knobs: Knobs = Field(default_factory=Knobs)


def _runner(sandbox: Sandbox) -> WorkflowRunner:
    default = SandboxRestrictions.default
    match sandbox:
        case "none":
            return UnsandboxedWorkflowRunner()
        case "pass through all":
            return SandboxedWorkflowRunner(restrictions=default.with_passthrough_all_modules())
        case "full":  # everything of ours in the sandbox; what is not ours cannot be imported there
            foreign = ("openai", "httpx2", "opentelemetry", "genai_prices", "obstore")
            return SandboxedWorkflowRunner(restrictions=default.with_passthrough_modules(*foreign))
