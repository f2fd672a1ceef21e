"""A stage for plans with agents: the planner is scripted, and so are the steps of its agents."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.client import Client

from activities.artifacts import ArtifactStore
from activities.model.request import ModelAnswer, ModelRequest
from activities.served import Activities
from activities.toolkit import Toolkit
from harness.plan import Plan, PlanNode
from harness.run import NodeReport, RunResult
from tests.builders import literal, node, plan, results_of
from tests.loop_stage import Script, ScriptedSteps
from tests.sandbox import SANDBOX
from tests.stage import CARDS, MEMORY, Outcome, ScriptedModel, ScriptedTools, Stage, patient
from workflows.workers import build_worker


class Both:
    """Answers plans by one script and steps by another."""

    def __init__(self, plans: list[Any], steps: Script) -> None:
        self.plans, self.steps = ScriptedModel(plans), ScriptedSteps(steps)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer by the script that the request is for."""
        return await (self.steps if request.tools else self.plans).ask(request)


def agent(goal: str, *, node_id: str = "search", deps: tuple[str, ...] = ()) -> PlanNode:
    """Return a node that is an agent."""
    return node(node_id, "agent", deps=deps, arguments={"goal": literal(goal)})


def reported(*nodes: PlanNode) -> Plan:
    """Return a plan of these nodes, and a report on the results of all of them."""
    ids = [each.id for each in nodes]
    return plan(*nodes, node("report", "write_report", deps=ids, arguments={"sources": results_of(*ids)}))


def node_of(result: RunResult, node_id: str = "search") -> NodeReport:
    """Return a node of the last plan."""
    return next(each for each in result.plan if each.node.id == node_id)


@asynccontextmanager
async def agent_stage(
    client: Client,
    plans: list[Any],
    steps: Script,
    outcomes: dict[str, list[Outcome]] | None = None,
    *,
    toolkit: Callable[[ScriptedTools], Toolkit] = patient,
    store: ArtifactStore = MEMORY,
) -> AsyncIterator[tuple[Stage, Both]]:
    """Set the stage: a worker serves the scripted models and tools while the body runs."""
    model, tools = Both(plans, steps), ScriptedTools(outcomes or {})
    kit = toolkit(tools)
    queue = f"agents-{id(model)}"
    served = Activities.of(kit, model, lambda _: CARDS, store)
    worker = build_worker(client, served, task_queue=queue, workflow_runner=SANDBOX, graceful_stop=timedelta(seconds=5))
    async with worker:
        yield Stage(client, model.plans, tools, queue, kit.by_name()), model
