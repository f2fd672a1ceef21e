"""No-op calls in a row by installed peers, beside the raw workflow and Whippletree."""

from collections.abc import Iterable

from bench.contenders import OURS, RAW
from bench.history import Part, history_parts
from bench.measure import Record, Rig, Team, in_turn, say, warm_up
from bench.peers import langgraph, pydantic_ai

CALLS = (20, 80)
QUICK_CALLS = (5,)
PLAN_CALL = "draft_plan"


async def measure(rig: Rig, *, is_quick: bool) -> list[Record]:
    """Measure every peer that is installed, and say which are not."""
    say("peers ...")
    durable = pydantic_ai.contenders()
    records: list[Record] = []
    async with rig.teams([RAW, OURS, *durable]) as teams:
        await warm_up(teams, "deep:5")
        for calls in QUICK_CALLS if is_quick else CALLS:
            series = await in_turn(teams, f"deep:{calls}", repeat=rig.repeat)
            for team, runs in zip(teams, series, strict=True):
                records.append(await _figures(team, calls, runs.median_s, runs.samples[-1].run_id))
            if langgraph.is_installed():
                records.append(await langgraph.measure(calls, rig.repeat))
    missing = {pydantic_ai.NAME: bool(durable), langgraph.NAME: langgraph.is_installed()}
    return records + [{"peer": name, "note": "not installed"} for name, is_there in missing.items() if not is_there]


async def _figures(team: Team, calls: int, seconds: float, run_id: str) -> Record:
    parts = await history_parts(team.client, run_id)
    model = [part for name, part in parts.items() if pydantic_ai.MODEL_CALL in name or name == PLAN_CALL]
    model_calls = _sum(model, "events") // 3
    record: Record = {
        "peer": team.contender.name,
        "calls": calls,
        "model_calls": model_calls,
        "seconds": round(seconds, 4),
        "ms_per_call": round(1000 * seconds / (calls + model_calls), 2),
        "events_per_call": round(_sum(parts.values(), "events") / (calls + model_calls), 2),
        "bytes_per_call": round(_sum(parts.values(), "bytes") / (calls + model_calls)),
    }
    return {**record, "bytes_per_model_call": round(_sum(model, "bytes") / model_calls)} if model_calls else record


def _sum(parts: Iterable[Part], what: str) -> int:
    return sum(part[what] for part in parts)
