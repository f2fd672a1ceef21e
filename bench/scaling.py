"""Plans of three shapes and four sizes: time, history and memory of each contender.

Both make the same calls: before its graph the raw workflow calls two no-op activities, one after the other, where
Whippletree has its catalog described and its plan drawn up. Plans of 1,000 nodes also run on the raw workflow without
these two.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from statistics import median

from bench.contenders import BARE_RAW, CALLS_BEFORE, OURS, RAW, Contender
from bench.failure import Unsupported
from bench.history import HistorySize, history_parts, middle_of
from bench.measure import Record, Rig, Series, Team, in_turn, say, warm_up

SHAPES = ("wide", "deep", "diamond")
SIZES = (10, 100, 1000, 10_000)
LARGE_FROM = 10_000
"""Graphs of this size and more are run as often as --repeat-large says."""
PROMISED_SIZES = (1000,)
"""Where the ratio of times to raw is promised: more runs, and raw also without the calls before its graph."""
CREWS = 4
"""There, the workers are replaced so often: how fast a process is depends by some percent on where its memory lies."""
RAW_CANNOT = {
    ("deep", 10_000): "the raw chain has 60,000 events, and Temporal terminates a workflow run at 51,200: it cannot run"
}


NewRig = Callable[[], AbstractAsyncContextManager[Rig]]
"""Starts a server and gives the rig that belongs to it."""


@dataclass(frozen=True)
class Case:
    """One shape in one size."""

    shape: str
    nodes: int

    @property
    def graph(self) -> str:
        """Return the name of its graph."""
        return f"{self.shape}:{self.nodes}"


async def measure(new_rig: NewRig, shapes: tuple[str, ...], sizes: tuple[int, ...]) -> list[Record]:
    """Measure every shape in every size, each on a server of its own: no case pays for what another has left.

    The sizes of a shape follow one another, so that they meet the machine in the same mood.
    """
    records: list[Record] = []
    for case in (Case(shape, nodes) for shape in shapes for nodes in sizes):
        async with new_rig() as rig:
            records.append(await _measure(rig, case))
    return records


async def _measure(rig: Rig, case: Case) -> Record:
    """Measure one case with workers of its own, so that their memory is that of this case."""
    say(f"{case.shape}, {case.nodes:,} nodes ...")
    reason = RAW_CANNOT.get((case.shape, case.nodes))
    repeat = rig.repeat_large if case.nodes >= LARGE_FROM else rig.repeat
    record: Record = {"shape": case.shape, "nodes": case.nodes, "repeat": repeat}
    if reason:
        record["raw_left_out"] = reason
    least_s = rig.promised_s if case.nodes in PROMISED_SIZES else 0.0
    crews = CREWS if least_s else 1
    tallies = [Tally(contender) for contender in (*_raw(case), OURS)]
    for _ in range(crews):
        async with rig.teams([tally.contender for tally in tallies]) as teams:
            await warm_up(teams)
            try:
                series = await in_turn(
                    teams,
                    case.graph,
                    repeat=-(-repeat // crews),
                    calls_before=CALLS_BEFORE,
                    least_s=least_s / crews,
                )
            except Unsupported as error:
                return {**record, "left_out": str(error)}
            for tally, team, runs in zip(tallies, teams, series, strict=True):
                await tally.take(team, runs, has_parts=case.nodes < LARGE_FROM)
    for tally in tallies:
        record["repeat"] = len(tally.series.samples)
        record[tally.contender.name] = tally.figures(case.nodes)
    return record


@dataclass
class Tally:
    """What one contender has shown in one case, in the hands of one crew of workers after the other."""

    contender: Contender
    series: Series = field(default_factory=Series)
    histories: list[HistorySize] = field(default_factory=list)
    peak_rss_mb: float = 0.0
    last: Record = field(default_factory=dict)
    """Figures of the last run."""

    async def take(self, team: Team, runs: Series, *, has_parts: bool) -> None:
        """Take the runs of a crew while it serves, and what the history of its last one consists of."""
        self.series.samples += runs.samples
        self.histories += [await team.history(sample) for sample in runs.samples]
        self.peak_rss_mb = max(self.peak_rss_mb, team.peak_rss_mb)
        last = runs.samples[-1]
        self.last = {"store": asdict(await team.stored(last))}
        if has_parts:
            self.last["parts"] = await history_parts(team.client, last.run_id)

    def figures(self, nodes: int) -> Record:
        """Return the figures of all crews together."""
        samples, history = self.series.samples, middle_of(self.histories)
        return {
            "seconds": round(self.series.median_s, 4),
            "all_seconds": [round(sample.seconds, 4) for sample in samples],
            "nodes_per_s": round(nodes / self.series.median_s, 1),
            "worker_cpu_ms_per_node": round(1000 * median(one.worker_cpu_s for one in samples) / nodes, 3),
            "server_cpu_ms_per_node": round(1000 * median(one.server_cpu_s for one in samples) / nodes, 3),
            "events_per_node": round(history.events / nodes, 3),
            "bytes_per_node": round(history.bytes / nodes, 1),
            "store_bytes_per_node": round(self.last["store"]["bytes"] / nodes, 1),
            "peak_rss_mb": round(self.peak_rss_mb, 1),
            "history": asdict(history),
            **self.last,
        }


def _raw(case: Case) -> tuple[Contender, ...]:
    """Return the raw workflows that a case is measured against."""
    if (case.shape, case.nodes) in RAW_CANNOT:
        return ()
    return (RAW, BARE_RAW) if case.nodes in PROMISED_SIZES else (RAW,)
