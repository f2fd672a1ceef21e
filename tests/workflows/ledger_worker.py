"""A worker process for crash tests: its tools write every try to a ledger file. Usage: ADDRESS TASK_QUEUE LEDGER."""

import asyncio
import json
import os
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client

from activities.served import Activities
from activities.toolkit import ToolContext
from tests.stage import CARDS, MEMORY, ScriptedModel, ScriptedTools, fan_in
from workflows.data_converter import DATA_CONVERTER
from workflows.workers import build_worker

SLOW_SECONDS = 4.0
PLAN = fan_in("a", "b", "slow", "slower", "after", deps={"after": ("a",)})


def entries(ledger: Path) -> list[dict[str, str]]:
    """Return what the tools wrote, oldest first."""
    return [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []


def recorded(ledger: Path, seconds: float) -> object:
    """Return an outcome that writes the start of its try, works for a while and writes its end."""

    async def work(context: ToolContext) -> str:
        _write(ledger, "start", context)
        await asyncio.sleep(seconds)
        _write(ledger, "end", context)
        return f"result of {context.node_id}"

    return work


def _write(ledger: Path, what: str, context: ToolContext) -> None:
    line = {"what": what, "node": context.node_id, "key": context.idempotency_key, "pid": str(os.getpid())}
    with ledger.open("a") as file:
        file.write(json.dumps(line) + "\n")


async def main(address: str, task_queue: str, ledger: Path) -> None:
    """Serve until the process is killed."""
    seconds = {"slow": SLOW_SECONDS, "slower": SLOW_SECONDS}
    names = ("a", "b", "slow", "slower", "after")
    tools = ScriptedTools({name: [recorded(ledger, seconds.get(name, 0.0))] for name in names})
    client = await Client.connect(address, data_converter=DATA_CONVERTER)
    toolkit = tools.toolkit(names, timeout=timedelta(seconds=20))
    model = ScriptedModel([PLAN])
    activities = Activities.of(toolkit, model, lambda _: CARDS, MEMORY)
    worker = build_worker(client, activities, task_queue=task_queue)
    async with worker:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
