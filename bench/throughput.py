"""Many small runs at once, with one, two and four worker processes: runs per second, and what limits them."""

import asyncio
import os
import time
from contextlib import AsyncExitStack
from statistics import median

from bench.contenders import CALLS_BEFORE, OURS, RAW
from bench.measure import Record, Rig, Team, say, warm_up
from bench.process import cpu_s, machine_cpu_s

SMALL = "wide:5"
BUSY = 0.85
"""From this share of its time on a core is called busy."""


async def measure(rig: Rig, *, counts: tuple[int, ...], runs: int) -> list[Record]:
    """Measure each contender with each number of worker processes; all of them wait while one is measured."""
    async with AsyncExitStack() as stack:
        teams = [
            await stack.enter_async_context(rig.team(contender, size=count))
            for count in counts
            for contender in (RAW, OURS)
        ]
        for team in teams:
            await warm_up([team], SMALL, runs=3 * len(team.processes))
        batches: dict[str, list[Record]] = {team.queue: [] for team in teams}
        for turn in range(rig.repeat):
            say(f"throughput, {turn + 1} of {rig.repeat} ...")
            for team in teams:
                batches[team.queue].append(await batch(team, rig.server_pid, runs))
    return [_figures(team, batches[team.queue], runs) for team in teams]


def _figures(team: Team, batches: list[Record], runs: int) -> Record:
    count = len(team.processes)
    middle = {name: round(median(one[name] for one in batches), 3) for name in batches[0]}
    record: Record = {"contender": team.contender.name, "workers": count, "runs": runs, **middle}
    return {**record, "limit": _limit(record, count, os.cpu_count() or 1)}


async def batch(team: Team, server_pid: int, runs: int) -> Record:
    """Run so many small graphs at once; return runs per second and the cores that each side used."""
    pids = {"server": [server_pid], "workers": [one.pid for one in team.processes], "client": [os.getpid()]}
    before, busy = {name: sum(map(cpu_s, some)) for name, some in pids.items()}, machine_cpu_s()
    began = time.perf_counter()
    await asyncio.gather(*(team.run(SMALL, calls_before=CALLS_BEFORE, limit_s=60 + runs) for _ in range(runs)))
    seconds = time.perf_counter() - began
    used = {f"{name}_cores": (sum(map(cpu_s, some)) - before[name]) / seconds for name, some in pids.items()}
    return {"runs_per_s": runs / seconds, **used, "machine_cores": (machine_cpu_s() - busy) / seconds}


def _limit(record: Record, count: int, cores: int) -> str:
    """Say what kept the runs from being faster."""
    server, workers, client = record["server_cores"], record["workers_cores"], record["client_cores"]
    others = max(0.0, record["machine_cores"] - server - workers - client)
    if record["machine_cores"] >= BUSY * cores:
        return f"all {cores} cores are busy, {others:.2f} of them with other work"
    if workers >= BUSY * count:
        return "each worker process keeps a core busy: Python runs one thread at a time"
    if server >= BUSY:
        return "the server keeps a core busy: the dev server has one shard and one SQLite connection"
    return "no core is busy: the runs wait for the server's one shard and its disk"
