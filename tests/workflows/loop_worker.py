"""A worker process for crash tests of agent loops. Usage: ADDRESS TASK_QUEUE FOLDER [STEP].

Its model and its tools write what is asked of them to a ledger file in the folder. A tool of the third step takes its
time, and the model does when it is asked for that step.
"""

import asyncio
import json
import os
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client

from activities.artifacts import ArtifactStore
from activities.model.request import ModelAnswer, ModelCall, ModelRequest
from activities.served import Activities
from activities.toolkit import ToolContext
from tests.stage import CARDS, USAGE, ScriptedTools
from workflows.data_converter import DATA_CONVERTER
from workflows.workers import build_worker

SLOW_SECONDS = 4.0
STEPS: tuple[tuple[str, ...], ...] = (("a",), ("b", "c"), ("slow", "d"), ("a", "b"), ())
"""The tools that each step calls; the last one answers."""


class LedgerModel:
    """Takes the next step by the number of turns that it is shown, and writes down that it was asked."""

    def __init__(self, folder: Path, slow_step: int) -> None:
        self._folder = folder
        self._slow_step = slow_step

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        made = sum(1 for message in request.messages if message.role == "assistant")
        note(self._folder, f"asked {made + 1}")
        await asyncio.sleep(SLOW_SECONDS if made + 1 == self._slow_step else 0)
        tools = STEPS[made]
        calls = tuple(ModelCall(f"c{number}", name, "{}") for number, name in enumerate(tools))
        return ModelAnswer("" if calls else "all is found", USAGE, calls=calls)


def note(folder: Path, what: str) -> None:
    """Write a line to the ledger."""
    with (folder / "ledger").open("a") as file:
        file.write(json.dumps({"what": what, "pid": os.getpid()}) + "\n")


def noted(folder: Path) -> list[str]:
    """Return what is in the ledger, oldest first."""
    path = folder / "ledger"
    return [json.loads(line)["what"] for line in path.read_text().splitlines()] if path.exists() else []


def recorded(folder: Path, seconds: float) -> object:
    """Return an outcome that writes the start and the end of its try."""

    async def work(context: ToolContext) -> str:
        note(folder, f"start {context.node_id} {context.idempotency_key}")
        await asyncio.sleep(seconds)
        note(folder, f"end {context.node_id}")
        return f"result of {context.node_id}"

    return work


async def main(address: str, task_queue: str, folder: Path, slow_step: int) -> None:
    """Serve until the process is killed."""
    names = ("a", "b", "c", "d", "slow")
    tools = ScriptedTools({name: [recorded(folder, SLOW_SECONDS if name == "slow" else 0.0)] for name in names})
    client = await Client.connect(address, data_converter=DATA_CONVERTER)
    toolkit = tools.toolkit(names, timeout=timedelta(seconds=20))
    store = ArtifactStore.open(str(folder / "store"))
    activities = Activities.of(toolkit, LedgerModel(folder, slow_step), lambda _: CARDS, store)
    async with build_worker(client, activities, task_queue=task_queue):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else 0))
