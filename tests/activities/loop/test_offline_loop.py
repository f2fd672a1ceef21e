"""A loop with the offline model: no key, no network, the same activities."""

import inspect
import json

from pydantic import JsonValue

from activities.guardrails.chain import Guardrails
from activities.loop.loop_activities import LoopActivities
from activities.model.client import OpenAIModel
from activities.settings import WorkerSettings
from activities.toolkit import Toolkit, describe
from activities.toolkit_loading import load_toolkit
from harness.loop_calls import CallResult, ToolCall
from tests.activities.loop.loop_stage import Loop, begin, calls, result, says


async def offline(loop: Loop) -> Loop:
    """Let a loop go on with the offline model."""
    loop.activities = LoopActivities(OpenAIModel(WorkerSettings()), loop.store, guardrails=Guardrails.of(loop.store))
    return loop


async def test_the_games_are_looked_up_and_one_is_recommended() -> None:
    kit = load_toolkit("games")
    catalog = describe(kit, OpenAIModel(WorkerSettings()).cards())
    loop = await offline(await begin(says("x"), goal="Recommend a short, calm game under 30 USD.", tools=catalog))

    first = await loop.take()
    reply = await loop.take(*[await _called(kit, call, loop) for call in first.calls])

    assert {call.tool for call in first.calls} >= {"get_games", "get_prices"}
    assert reply.answer is not None
    assert "1. Outer Wilds" in reply.answer
    assert "offline" in reply.answer
    assert reply.guard is not None
    assert reply.guard.ungrounded == ()


async def test_older_steps_are_summarised_by_rules() -> None:
    loop = await begin(calls(("read", '{"q":"tea"}')), soft=4000, hard=6000)
    await loop.take()
    for step in range(1, 40):
        await loop.take(result(f"{step}.1", f"found-{step} " + "z" * 1600))

    reply = await (await offline(loop)).summarise()

    assert reply.summarised > 20
    assert "offline" in (await loop.kept()).summary
    assert (await loop.kept()).record[0].startswith("step 1: read(")


async def _called(kit: Toolkit, call: ToolCall, loop: Loop) -> CallResult:
    tool = kit.by_name()[call.tool]
    found = tool.function(**call.arguments)
    value: JsonValue = tool.result.dump_python(await found if inspect.isawaitable(found) else found, mode="json")
    return CallResult(id=call.id, tool=call.tool, artifact=await loop.put(json.dumps(value).encode()))
