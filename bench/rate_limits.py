"""How exactly worker processes keep a rate limit together. See `python -m bench.rate_limits --help`."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

with workflow.unsafe.imports_passed_through():
    from activities.artifacts import ArtifactStore
    from activities.model.client import OpenAIModel
    from activities.served import Activities
    from activities.settings import WorkerSettings
    from activities.toolkit import Report, Toolkit, tool
    from bench.server import server
    from cli.connection import connect
    from cli.dev_server import ServerAddress
    from cli.pollers import POLL_S
    from harness.calls import ToolReply, ToolRequest
    from harness.catalog import RateLimit, ToolRole
    from workflows.data_converter import data_converter
    from workflows.limited_workers import limited_workers
    from workflows.task_queue import limited_queue

QUEUE, LIMIT = "bench", "provider"
START_LIMIT_S = 60


@workflow.defn
class Calls:
    """Makes many calls at once."""

    @workflow.run
    async def run(self, calls: int) -> None:
        """Make the calls."""
        made = [
            workflow.execute_activity(
                "ask",
                ToolRequest(),
                result_type=ToolReply,
                task_queue=limited_queue(QUEUE, LIMIT),
                heartbeat_timeout=timedelta(seconds=5),
                start_to_close_timeout=timedelta(seconds=90),
            )
            for _ in range(calls)
        ]
        await asyncio.gather(*made)


def toolkit(ledger: Path, rate: float) -> Toolkit:
    """Return a toolkit whose tool writes down when it is called, and by which process."""

    @tool(rate_limit=RateLimit(name=LIMIT, per_second=rate))
    async def ask() -> None:
        """Ask."""
        with ledger.open("a") as file:
            file.write(f"{time.time()} {os.getpid()}\n")

    @tool(role=ToolRole.FINAL_SYNTHESIS)
    async def write_report() -> Report:
        """Write."""
        return Report(report="")

    return Toolkit("bench", (ask, write_report))


async def serve(target: str, ledger: Path, rate: float) -> None:
    """Serve the limited calls until the process is killed."""
    store = ArtifactStore.open("memory://")
    client = await Client.connect(target, data_converter=data_converter(store))
    model = OpenAIModel(WorkerSettings())
    activities = Activities.of(toolkit(ledger, rate), model, model.cards, store)
    async with limited_workers(client, activities, QUEUE, graceful_stop=timedelta(0)):
        _say_ready(ledger)
        await asyncio.Event().wait()


def _say_ready(ledger: Path) -> None:
    Path(f"{ledger}.{os.getpid()}").touch()


async def measure(rate: float, workers: int, calls: int, idle_s: float) -> None:
    """Make calls twice, with a pause between, and print how they were spread."""
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        async with server() as record:
            processes = _start(workers, record.target, ledger, rate)
            try:
                await _until_ready(ledger, workers)
                client = await connect(ServerAddress(target=record.target))
                runner = UnsandboxedWorkflowRunner()
                async with Worker(client, task_queue="calls", workflows=[Calls], workflow_runner=runner):
                    for round_ in ("first", "after a pause"):
                        ledger.write_text("")
                        await client.execute_workflow(Calls.run, calls, id=round_, task_queue="calls")
                        print(f"{round_}: {spread(ledger)}")
                        await asyncio.sleep(idle_s)
            finally:
                for process in processes:
                    process.kill()
                    process.wait()


def _start(workers: int, target: str, ledger: Path, rate: float) -> list[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "bench.rate_limits", "--serve", target, str(ledger), "--rate", f"{rate}"]
    return [subprocess.Popen(command) for _ in range(workers)]


async def _until_ready(ledger: Path, workers: int) -> None:
    async with asyncio.timeout(START_LIMIT_S):
        while len(list(ledger.parent.glob("ledger.*"))) < workers:  # noqa: ASYNC110 - other processes set no event
            await asyncio.sleep(POLL_S)
    await asyncio.sleep(1)  # until each has polled


def spread(ledger: Path) -> str:
    """Return how the calls of a ledger were spread over time and processes."""
    lines = [line.split() for line in ledger.read_text().splitlines()]
    moments = sorted(float(moment) for moment, _ in lines)
    most = max(sum(1 for each in moments if first <= each < first + 1) for first in moments)
    shares = sorted(Counter(process for _, process in lines).values())
    took = moments[-1] - moments[0]
    return f"{len(moments)} calls in {took:.1f} s, at most {most} in any second, by process {shares}"


@click.command()
@click.option("--rate", default=5.0, show_default=True, help="Calls a second.")
@click.option("--workers", default=3, show_default=True, help="Worker processes.")
@click.option("--calls", default=60, show_default=True)
@click.option("--idle", "idle_s", default=5.0, show_default=True, help="Seconds of the pause.")
@click.option("--serve", "post", nargs=2, type=str, hidden=True)
def main(rate: float, workers: int, calls: int, idle_s: float, post: tuple[str, str] | None) -> None:
    """Measure how exactly worker processes keep a rate limit together."""
    if post:
        asyncio.run(serve(post[0], Path(post[1]), rate))
    else:
        asyncio.run(measure(rate, workers, calls, idle_s))


if __name__ == "__main__":
    main()
