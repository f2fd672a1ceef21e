"""Where calls with a rate limit wait: in a task queue of the limit, which hands out no more of them than it allows."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.catalog import RateLimit, ToolSpec
    from harness.rate_limits import limit_of, limit_of_models

from workflows.run_core import RunCore
from workflows.task_queue import limited_queue


def queue_of_tool(run: RunCore, tool: ToolSpec) -> str | None:
    """Return the task queue for the calls of a tool; None for that of the workflow."""
    return _queue(run, limit_of(tool, _model_rate(run)))


def queue_of_models(run: RunCore) -> str | None:
    """Return the task queue for model calls of the run itself; None for that of the workflow."""
    return _queue(run, limit_of_models(_model_rate(run)))


def waiting_for(run: RunCore, tool: ToolSpec) -> str:
    """Return what a call of a tool waits for while no worker has it; empty when the tool keeps no limit."""
    limit = limit_of(tool, _model_rate(run))
    return "" if limit is None else f"a worker of {_queue(run, limit)}, which may not be served"


def _model_rate(run: RunCore) -> float | None:
    return run.catalog.model_rate if run.catalog else None


def _queue(run: RunCore, limit: RateLimit | None) -> str | None:
    if limit is None:
        return run.activity_queue
    return limited_queue(run.activity_queue or workflow.info().task_queue, limit.name)
