"""A worker process that is there to be killed: the real worker with a scripted planner and tools that keep a ledger."""

import asyncio
import logging
import os
import threading
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from multiprocessing.connection import Connection
from pathlib import Path

from temporalio.client import Client
from temporalio.converter import DataConverter

from activities.model.cards import ModelCards
from activities.model.request import ModelAnswer, ModelRequest
from activities.prompts import unfenced
from activities.served import Activities
from chaos.ledger import Ledger
from chaos.plans import plan_of, replanned, scenario_of
from chaos.toolkit import chaos_toolkit
from cli.connection import open_artifacts
from harness.catalog import ModelCard
from harness.usage import Usage
from workflows.data_converter import data_converter
from workflows.workers import build_worker

CARD = ModelCard(name="scripted", input_token_usd=Decimal("0.000001"), output_token_usd=Decimal("0.000001"))
USAGE = Usage(model=CARD.name, input_tokens=100, output_tokens=50, cost_usd=Decimal("0.00015"))
PLANNING_S = 0.1
"""How long a plan takes, so that a worker can be killed over it."""
RECONNECT_S = 0.1


@dataclass(frozen=True)
class Post:
    """Where a worker serves."""

    target: str
    """Address of the server."""
    task_queue: str
    ledger: Path
    """Its folder keeps the logs as well."""


class ScriptedPlanner:
    """A model whose plan follows from the goal, and from whether an attempt has failed."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer with the plan that the goal names."""
        await asyncio.sleep(PLANNING_S)
        asked = unfenced(request.user)
        scenario = scenario_of(asked["goal"])
        plan = replanned(scenario) if "failures" in asked else plan_of(scenario)
        return ModelAnswer(plan.model_dump_json(), USAGE)


def work(post: Post, index: int, lifeline: Connection) -> None:
    """Serve runs in a process of its own until it is killed, or until its parent is."""
    os.setsid()  # the terminal's Ctrl-C is for the parent, which then stops the workers
    os.chdir(post.ledger.parent)
    _log_to(Path(f"worker-{index}.log"))
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    asyncio.run(_serve(post))


async def _serve(post: Post) -> None:
    toolkit, store = chaos_toolkit(Ledger(post.ledger)), open_artifacts()
    client = await _connected(post.target, data_converter(store))
    activities = Activities.of(toolkit, ScriptedPlanner(), lambda _: ModelCards(CARD), store)
    async with build_worker(client, activities, task_queue=post.task_queue, graceful_stop=timedelta(0)):
        await asyncio.Event().wait()


async def _connected(target: str, converter: DataConverter) -> Client:
    """Connect, as soon as there is a server: it may have been killed as well."""
    while True:
        try:
            return await Client.connect(target, data_converter=converter)
        except RuntimeError:
            await asyncio.sleep(RECONNECT_S)


def _log_to(path: Path) -> None:
    """Send everything that this process says to a file, the words of the SDK's core included."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s", force=True)


def _end_with_parent(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(0)
