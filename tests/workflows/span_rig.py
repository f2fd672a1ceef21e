"""A rig for tests of spans: a worker whose model is the real client, on a scripted server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.plugin import SimplePlugin

from activities.model.client import OpenAIModel
from activities.model.request import ModelRequest
from activities.served import Activities
from activities.settings import WorkerSettings
from activities.toolkit import ToolContext
from harness.carry import RunInput
from harness.model_choice import ModelRole
from harness.plan import Plan
from harness.run import RunOptions, RunResult
from tests.scripted_model import Reply, ScriptedServer, completion
from tests.stage import MEMORY, Outcome, ScriptedTools
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

NINE = tuple("abcdefghi")
KEY, GOAL, ANSWER = "sk-canary-key", "canary goal", "canary answer"
TOKENS_PER_CALL = 18
ALL_SHOWN = {"max_tools_shown": 100}
"""Plans are scripted, so that no tool may be left out."""


async def ask(context: ToolContext) -> str:
    """Play a tool that asks the model once."""
    request = ModelRequest(ModelRole.SYNTHESIS, "canary system", "canary prompt", 100, timedelta(seconds=10))
    return (await context.model.ask(request)).text


@dataclass
class Rig:
    """A worker whose model is the real client, on a scripted server."""

    client: Client
    queue: str
    tools: ScriptedTools = field(default_factory=ScriptedTools)

    async def start(self, toolkit: str = "stage", **options: Any) -> WorkflowHandle[OrchestratorWorkflow, RunResult]:
        request = RunInput(goal=GOAL, toolkit=toolkit, options=RunOptions.model_validate(ALL_SHOWN | options))
        return await self.client.start_workflow(
            OrchestratorWorkflow.run, request, id=f"run-{self.queue}", task_queue=self.queue
        )

    async def run(self, **options: Any) -> RunResult:
        return await asyncio.wait_for((await self.start(**options)).result(), 60)


@asynccontextmanager
async def rig(
    client: Client,
    queue: str,
    *replies: Plan | Reply,
    plugins: list[SimplePlugin],
    cached: int = 1000,
    **outcomes: list[Outcome],
) -> AsyncIterator[Rig]:
    """Set up a worker with nine tools that ask the model; the model answers by these replies, then by ANSWER."""
    served = [Reply(body=completion(r.model_dump_json())) if isinstance(r, Plan) else r for r in replies]
    tools = ScriptedTools({name: [ask] for name in NINE} | outcomes)
    kit = tools.toolkit(NINE, max_model_tokens=400)
    async with ScriptedServer(*served, Reply(body=completion(ANSWER))) as server:
        model = OpenAIModel(WorkerSettings(api_key=KEY, base_url=server.url, model="scripted-1"))
        activities = Activities.of(kit, model, model.cards, MEMORY)
        async with build_worker(client, activities, task_queue=queue, max_cached_workflows=cached, plugins=plugins):
            yield Rig(client, queue, tools)
        await model.close()
