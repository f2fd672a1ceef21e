"""Whole runs of the games toolkit by the real model client, on scripted servers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from temporalio.client import Client, WorkflowHandle

from activities.model.client import OpenAIModel
from activities.served import Activities
from activities.settings import WorkerSettings
from activities.toolkits.games import TOOLKIT
from harness.carry import RunInput
from harness.run import RunOptions, RunResult
from tests.builders import literal, node, plan, result_of
from tests.scripted_model import Reply, ScriptedServer, completion
from tests.stage import MEMORY
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

_ids = count(1)
KEY = "sk-canary-0123456789"
PLAN = plan(
    node("facts", "get_genre_facts"),
    node("reviews", "get_genre_reviews"),
    node("games", "get_games"),
    node("prices", "get_prices"),
    node(
        "report",
        "summarizer_node",
        deps=["facts", "reviews", "games", "prices"],
        arguments={
            "preferences": literal("calm"),
            "genre_facts": result_of("facts"),
            "genre_reviews": result_of("reviews"),
            "games": result_of("games"),
            "prices": result_of("prices"),
        },
    ),
)
PLANNED = Reply(body=completion(PLAN.model_dump_json()))
REPORT = Reply(body=completion("Outer Wilds at 24.99 USD and Stardew Valley at 14.99 USD are calm."))


@asynccontextmanager
async def games_on(client: Client, url: str, settings: WorkerSettings | None = None) -> AsyncIterator[str]:
    """Serve the games toolkit with the real model client on a server; yield the task queue."""
    queue = f"models-{next(_ids)}"
    used = settings or WorkerSettings(api_key=KEY, base_url=url, model="scripted-1")
    model = OpenAIModel(used)
    activities = Activities.of(TOOLKIT, model, model.cards, MEMORY, secrets=used.secrets)
    async with build_worker(client, activities, task_queue=queue):
        yield queue
    await model.close()


async def start(client: Client, queue: str, **options: object) -> WorkflowHandle[OrchestratorWorkflow, RunResult]:
    """Start a run with these RunOptions."""
    given = RunInput(goal="a calm game", options=RunOptions.model_validate(options))
    return await client.start_workflow(OrchestratorWorkflow.run, given, id=f"run-{queue}", task_queue=queue)


async def run_on(client: Client, url: str, settings: WorkerSettings | None = None, **options: object) -> RunResult:
    """Run to the end with these RunOptions."""
    async with games_on(client, url, settings) as queue:
        handle = await start(client, queue, **options)
        return await asyncio.wait_for(handle.result(), 60)


async def run(client: Client, *replies: Reply, **options: object) -> tuple[RunResult, ScriptedServer]:
    """Run to the end on a server with these replies; return what it saw, too."""
    async with ScriptedServer(*replies) as server:
        return await run_on(client, server.url, **options), server
