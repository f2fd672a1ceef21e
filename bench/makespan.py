"""Random graphs of naps: how much longer their execution takes than the longest path through them."""

from statistics import mean

from bench.contenders import OURS, RAW
from bench.history import execution_s
from bench.measure import Record, Rig, Team, say, warm_up
from bench.shapes import REPORT, critical_path_s, graph


async def measure(rig: Rig) -> Record:
    """Run a graph for each repeat, each from a seed of its own."""
    say("makespan of random graphs ...")
    async with rig.teams([RAW, OURS]) as (raw, ours):
        await warm_up([raw, ours])
        runs = [await _measure(raw, ours, seed) for seed in range(1, rig.repeat + 1)]
    ratios = {name: [run[name] for run in runs] for name in ("makespan", "run", "raw_makespan", "raw_run")}
    return {
        "graphs": runs,
        **{f"{name}_mean": round(mean(values), 3) for name, values in ratios.items()},
        **{f"{name}_max": max(values) for name, values in ratios.items()},
    }


async def _measure(raw: Team, ours: Team, seed: int) -> Record:
    """Return ratios to the critical path: of the execution, of the whole run with its planning, and the raw ones."""
    name = f"random:{seed}"
    path = critical_path_s(graph(name))
    record: Record = {"seed": seed, "critical_path_s": path}
    for team, prefix in ((raw, "raw_"), (ours, "")):
        run = await team.run(name)
        executed = await execution_s(team.client, run.run_id, "nap", REPORT)
        record |= {f"{prefix}makespan": round(executed / path, 3), f"{prefix}run": round(run.seconds / path, 3)}
    return record
