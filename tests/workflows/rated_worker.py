"""A worker process for tests of rate limits: its tool writes the start of every call to a ledger file.

Usage: ADDRESS TASK_QUEUE LEDGER CALLS_A_SECOND.
"""

import asyncio
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client

from activities.served import Activities
from activities.toolkit import Report, Toolkit, tool
from harness.catalog import RateLimit, ToolRole
from harness.plan import Plan
from tests.builders import literal, node, plan
from tests.stage import CARDS, MEMORY, ScriptedModel
from workflows.data_converter import DATA_CONVERTER
from workflows.limited_workers import limited_workers
from workflows.workers import build_worker

CALLS = 60
"""Limited calls of a plan."""


def asking(calls: int) -> Plan:
    """Return a plan of so many limited calls, which wait for nothing but the limit."""
    nodes = [node(f"n{n}", "ask" if n % 2 else "look", arguments={"number": literal(str(n))}) for n in range(calls)]
    return plan(*nodes, node("report", "write_report", deps=[each.id for each in nodes]))


def starts(ledger: Path) -> list[tuple[float, str]]:
    """Return when calls have started, by the wall clock, and in which process, in order."""
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    return sorted((float(moment), pid) for moment, pid in (line.split() for line in lines))


def most_in_a_second(moments: list[float]) -> int:
    """Return the largest number of moments in any window of one second."""
    return max(sum(1 for each in moments if first <= each < first + 1) for first in moments)


def rated_toolkit(ledger: Path, per_second: float) -> Toolkit:
    """Return a toolkit with the limited tools `ask` and `look`, which share a limit, and a report."""
    limit = RateLimit(name="provider", per_second=per_second)

    def note() -> None:
        with ledger.open("a") as file:
            file.write(f"{time.time()} {os.getpid()}\n")

    @tool(rate_limit=limit, timeout=timedelta(seconds=20))
    async def ask(number: int) -> int:
        """Ask the provider."""
        note()
        await asyncio.sleep(0.02)
        return number

    @tool(rate_limit=limit, timeout=timedelta(seconds=20))
    async def look(number: int) -> int:
        """Look at the provider."""
        note()
        return number

    @tool(role=ToolRole.FINAL_SYNTHESIS)
    async def write_report() -> Report:
        """Write the report."""
        return Report(report="asked")

    return Toolkit("rated", (ask, look, write_report))


async def main(address: str, task_queue: str, ledger: Path, per_second: float) -> None:
    """Serve until the process is killed."""
    client = await Client.connect(address, data_converter=DATA_CONVERTER)
    activities = Activities.of(
        rated_toolkit(ledger, per_second), ScriptedModel([asking(CALLS)]), lambda _: CARDS, MEMORY
    )
    limited = limited_workers(client, activities, task_queue, graceful_stop=timedelta(0))
    async with build_worker(client, activities, task_queue=task_queue), limited:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])))
