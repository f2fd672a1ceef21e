"""A tiny run: how long one takes from the start to its result, with as many calls on both sides."""

from statistics import quantiles

from bench.contenders import CALLS_BEFORE, OURS, RAW
from bench.measure import Record, Rig, Series, in_turn, say, warm_up

TINY = "wide:5"
RUNS_EACH = 6
"""Runs for each repeat: a tiny run is over at once, and its time varies."""


async def measure(rig: Rig) -> Record:
    """Measure the latency of a run of five nodes, the catalog and the plan included."""
    say("latency of a tiny run ...")
    async with rig.teams([RAW, OURS]) as teams:
        await warm_up(teams)
        raw, ours = await in_turn(teams, TINY, repeat=RUNS_EACH * rig.repeat, calls_before=CALLS_BEFORE)
    return {
        "graph": TINY,
        "raw": _figures(raw),
        "ours": _figures(ours),
        "ours_over_raw": round(ours.median_s / raw.median_s, 3),
    }


def _figures(series: Series) -> Record:
    times = sorted(sample.seconds for sample in series.samples)
    return {"median_ms": round(1000 * series.median_s, 1), "p95_ms": round(1000 * quantiles(times, n=20)[-1], 1)}
