"""One large result that twenty nodes take: what it adds to history, against the same plan with a small one."""

from bench.contenders import OURS, RAW
from bench.measure import Record, Rig, Team, say

LARGE, SMALL = 300_000, 10


async def measure(rig: Rig) -> Record:
    """Measure the bytes that the large result adds, for each contender."""
    say("fan-out of a 300 KB result ...")
    async with rig.teams([RAW, OURS]) as teams:
        return {team.contender.name: await _added(team) for team in teams}


async def _added(team: Team) -> Record:
    runs = [await team.run(f"fan_out:{size}") for size in (LARGE, SMALL)]
    large, small = [await team.history(run) for run in runs]
    return {
        "large_bytes": large.bytes,
        "small_bytes": small.bytes,
        "added_bytes": large.bytes - small.bytes,
        "large_store_bytes": (await team.stored(runs[0])).bytes,
        "events": large.events,
    }
