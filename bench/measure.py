"""How a run is measured: one at a time, the contenders in turn, so that what disturbs the machine disturbs both."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import Any

from temporalio.client import Client
from temporalio.exceptions import TemporalError
from temporalio.service import RPCError

from bench.contenders import Contender, Job
from bench.failure import BenchFailure
from bench.history import HistorySize, history_size
from bench.process import WorkerProcess, cpu_s, peak_rss_mb, workers
from bench.shapes import graph
from bench.stored import StoreSize, store_size
from bench.worker_spec import Knobs, WorkerSpec

Record = dict[str, Any]
"""Figures by name, as they go to the JSON file.

A dict crosses modules here though a model is the rule: each part has figures of its own, they nest, nothing but tables
and ratios is made of them, and a model for each would say every name a third time, after the JSON and its test.
"""

CONNECT_LIMIT_S = 30.0
RUN_LIMIT_S = 60.0
NODE_LIMIT_S = 0.2
"""A run may take this much more for each of its nodes: ten times what an idle machine needs."""
_ids = count(1)


@dataclass(frozen=True)
class Rig:
    """The server and what belongs to one invocation."""

    target: str
    server_pid: int
    repeat: int
    """Runs of which the median counts, at least."""
    repeat_large: int = 1
    """Runs of the largest graphs, which take minutes."""
    promised_s: float = 0.0
    """Where the ratio of times to raw is promised, the sides take turns until each has run so long."""

    @asynccontextmanager
    async def team(self, contender: Contender, *, size: int = 1, knobs: Knobs | None = None) -> AsyncIterator["Team"]:
        """Run workers of a contender on a task queue of their own while the body runs."""
        queue = f"bench-{contender.name}-{next(_ids)}"
        spec = WorkerSpec(contender=contender.name, target=self.target, queue=queue, knobs=knobs or Knobs())
        async with workers(spec, size) as processes:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                client = await contender.connect(self.target)
            yield Team(contender, client, queue, self.server_pid, processes)

    @asynccontextmanager
    async def teams(self, contenders: Sequence[Contender]) -> AsyncIterator[list["Team"]]:
        """Run a worker of each contender while the body runs."""
        async with AsyncExitStack() as stack:
            yield [await stack.enter_async_context(self.team(contender)) for contender in contenders]


@dataclass(frozen=True)
class Sample:
    """One run."""

    seconds: float
    """From the start to the result at the client."""
    run_id: str
    result: object
    worker_cpu_s: float
    """Processor time of the worker processes: much steadier than the time on a machine that has other work."""
    server_cpu_s: float


@dataclass(frozen=True)
class Team:
    """A contender whose workers serve."""

    contender: Contender
    client: Client
    queue: str
    server_pid: int
    processes: list[WorkerProcess]

    @property
    def peak_rss_mb(self) -> float:
        """Return the most memory that one of its worker processes has had."""
        return max(peak_rss_mb(process.pid) for process in self.processes)

    async def run(self, name: str, *, calls_before: int = 0, limit_s: float | None = None) -> Sample:
        """Run a graph to its result."""
        limit = limit_s or RUN_LIMIT_S + NODE_LIMIT_S * len(graph(name))
        job = Job(name, self.queue, f"{self.queue}-{next(_ids)}", calls_before)
        used, began = self._cpu_s(), time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                result = await (await self.contender.start(self.client, job)).result()
        except TimeoutError:
            raise BenchFailure(f"{self.contender.name}, {name}: no result within {limit:g} s") from None
        except (TemporalError, RPCError) as error:
            raise BenchFailure(f"{self.contender.name}, {name}: {_reason(error)}") from error
        seconds = time.perf_counter() - began
        worker_s, server_s = (after - before for before, after in zip(used, self._cpu_s(), strict=True))
        self.contender.check(name, result)
        return Sample(seconds, job.run_id, result, worker_s, server_s)

    async def history(self, sample: Sample) -> HistorySize:
        """Measure the history of a run."""
        return await history_size(self.client, sample.run_id)

    async def stored(self, sample: Sample) -> StoreSize:
        """Measure what the artifact store keeps of a run; of a contender without a store that is nothing."""
        return await store_size(self.client, sample.run_id)

    def _cpu_s(self) -> tuple[float, float]:
        """Return the processor time that workers and server have used so far."""
        return sum(cpu_s(one.pid) for one in self.processes), cpu_s(self.server_pid)


@dataclass
class Series:
    """Runs of the same graph by one contender."""

    samples: list[Sample] = field(default_factory=list)

    @property
    def median_s(self) -> float:
        """Return the median of the run times."""
        return median(sample.seconds for sample in self.samples)

    @property
    def total_s(self) -> float:
        """Return the time of all runs."""
        return sum(sample.seconds for sample in self.samples)


async def in_turn(
    teams: Sequence[Team], name: str, *, repeat: int, calls_before: int = 0, least_s: float = 0.0
) -> list[Series]:
    """Run a graph by every team in turn, so many times and until each has run so long; who goes first changes."""
    series = [Series() for _ in teams]
    for turn in count():
        if turn >= repeat and min(one.total_s for one in series) >= least_s:
            break
        order = range(len(teams)) if turn % 2 == 0 else reversed(range(len(teams)))
        for index in order:
            series[index].samples.append(await teams[index].run(name, calls_before=calls_before))
    return series


async def warm_up(teams: Sequence[Team], name: str = "wide:100", *, runs: int = 2) -> None:
    """Make each team run a small graph, so that imports and connections are not measured."""
    for _ in range(runs):
        for team in teams:
            await team.run(name)


def say(text: str) -> None:
    """Say on stderr what is being measured."""
    print(text, file=sys.stderr, flush=True)


def _reason(error: BaseException) -> str:
    """Return the message at the bottom of a chain of errors."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}"
