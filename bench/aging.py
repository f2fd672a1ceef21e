"""A server and a worker that have run much, beside what they were when they were new."""

from statistics import median

from bench.contenders import OURS
from bench.measure import Record, Rig, Sample, say, warm_up

GRAPH = "wide:1000"
RUNS = 90
"""When the dev server fell behind with its timers it did so after 40 to 60 runs, for good: 8 to 9 s instead of 3."""
QUICK_RUNS = 3
_ENDS = 10
"""So many runs at the start and at the end are compared, of few runs a third."""


async def measure(rig: Rig, *, runs: int) -> Record:
    """Run the same graph so often on a new server and a new worker; compare the last runs with the first.

    The processor times tell which of the two has become slower.
    """
    say(f"{runs} runs of {GRAPH} on one server ...")
    async with rig.team(OURS) as team:
        await warm_up([team])
        samples = [await team.run(GRAPH) for _ in range(runs)]
    ends = min(_ENDS, runs // 3)
    first, last = _figures(samples[:ends]), _figures(samples[-ends:])
    return {
        "graph": GRAPH,
        "runs": runs,
        "ends": ends,
        "first": first,
        "last": last,
        "last_over_first": round(last["seconds"] / first["seconds"], 3),
        "all_seconds": [round(sample.seconds, 4) for sample in samples],
    }


def _figures(samples: list[Sample]) -> Record:
    return {
        "seconds": round(median(sample.seconds for sample in samples), 4),
        "worker_cpu_s": round(median(sample.worker_cpu_s for sample in samples), 3),
        "server_cpu_s": round(median(sample.server_cpu_s for sample in samples), 3),
    }
