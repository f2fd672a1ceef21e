import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client

from activities.model.request import ModelError
from activities.toolkit import Toolkit
from harness.budget import Extension, Limits
from harness.errors import ErrorCode, ToolError
from harness.loop import LoopPhase, LoopResult, LoopStatus
from harness.run import RunStatus
from harness.trace import TraceKind
from tests.loop_stage import call, loop_stage
from tests.replay.histories import failed_tasks
from tests.stage import ScriptedTools, extend_twice, fan_in, patient, stage
from workflows.agent_loop import AgentLoopWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="session")


def kinds(result: LoopResult, *names: str) -> list[str]:
    return [event.kind for event in result.trace if not names or event.kind in names]


async def test_a_loop_calls_tools_step_by_step_until_the_model_answers(client: Client) -> None:
    async with loop_stage(client, [call("a"), call("b"), "It is B."]) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    assert result.report == "It is B."
    assert result.steps_made == 3
    assert [(s.number, s.call, s.tool, s.result, s.success) for s in result.steps] == [
        (1, "1.1", "a", "A", True),
        (2, "2.1", "b", "B", True),
    ]
    assert result.budget.tool_calls == 2
    assert result.budget.tokens == 450
    assert result.usage.total_tokens == 450
    assert kinds(result) == [
        "run.start",
        "step.finish",
        "node.start",
        "node.finish",
        "step.finish",
        "node.start",
        "node.finish",
        "step.finish",
        "run.finish",
    ]


async def test_parallel_calls_of_a_step_run_at_the_same_time(client: Client) -> None:
    together = asyncio.Event()
    waiting: list[str] = []

    async def meet(context: Any) -> str:
        waiting.append(context.node_id)
        if len(waiting) == 3:
            together.set()
        await asyncio.wait_for(together.wait(), 10)
        return context.node_id

    outcomes: dict[str, list[Any]] = {name: [meet] for name in "abc"}
    async with loop_stage(client, [[("a", {}), ("b", {}), ("c", {})], "done"], outcomes=outcomes) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    assert sorted(s.result for s in result.steps) == ["1.1", "1.2", "1.3"]


async def test_what_goes_wrong_with_a_call_is_told_to_the_model_and_counted(client: Client) -> None:
    script = [
        call("Search "),
        call("a", surprise=1),
        call("b"),
        call("c"),
        call("write"),
        "I could not.",
    ]
    outcomes = {"b": [ToolError(ErrorCode.MISSING_INFO, "name a period")], "c": [RuntimeError("boom")]}
    async with loop_stage(client, script, outcomes=outcomes) as it:
        result = await it.run(allow_writes=False, loop={"no_progress_steps": 10})

    assert result.status is LoopStatus.COMPLETED
    codes = [(s.tool, s.error_code, s.tries) for s in result.steps]
    assert codes == [
        ("Search ", ErrorCode.UNKNOWN_TOOL, 0),
        ("a", ErrorCode.INVALID_ARGUMENT, 0),
        ("b", ErrorCode.MISSING_INFO, 1),
        ("c", ErrorCode.TOOL_EXECUTION_FAILED, 1),
        ("write", ErrorCode.UNKNOWN_TOOL, 0),
    ]
    assert not any(s.success for s in result.steps)
    assert [c.tool for c in it.tools.calls] == ["b", "c"]
    told = [request.messages[-1].text for request in it.model.requests[1:]]
    assert "'Search '" in told[0]
    assert "surprise" in told[1]
    assert "name a period" in told[2]
    assert "boom" in told[3]
    assert "allow-writes" in told[4] or "allow_writes" in told[4]


async def test_a_loop_that_calls_for_ever_stops_at_its_steps_with_a_closing_answer(client: Client) -> None:
    def script(place: int, request: Any) -> Any:
        return "as far as I know: B" if request.must_answer else call("abcd"[place % 4])

    outcomes = {name: list(range(100)) for name in "abcd"}
    async with loop_stage(client, script, outcomes=outcomes) as it:
        result = await it.run(loop={"max_steps": 6})

    assert result.status is LoopStatus.MAX_STEPS_EXCEEDED
    assert result.report == "as far as I know: B"
    assert result.steps_made == 6
    assert len(result.steps) == 6
    assert len(it.model.requests) == 7
    assert kinds(result, "loop.close") == ["loop.close"]


async def test_a_repeated_call_brings_a_hint_and_then_the_end(client: Client) -> None:
    def script(_: int, request: Any) -> Any:
        return "B, I think" if request.must_answer else call("a")

    async with loop_stage(client, script) as it:
        result = await it.run()

    assert result.status is LoopStatus.NO_PROGRESS
    assert result.report == "B, I think"
    assert len(result.steps) == 3
    assert kinds(result, "loop.hint", "loop.close") == ["loop.hint", "loop.close"]
    assert "'a'" in (result.error or "") or "a" in (result.error or "")


async def test_a_model_that_uses_the_hint_completes(client: Client) -> None:
    async with loop_stage(client, [call("a"), call("a"), "It is A."]) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    assert kinds(result, "loop.hint") == ["loop.hint"]
    hint = it.model.requests[-1].messages[-1].text
    assert "A" in hint


async def test_a_loop_out_of_time_cancels_what_is_in_flight_and_gives_what_it_has(client: Client) -> None:
    async def hang(_: object) -> str:
        await asyncio.sleep(60)
        return "late"

    async with loop_stage(client, [call("a"), call("b")], outcomes={"b": [hang]}, toolkit=patient) as it:
        result = await it.run(limits=Limits(max_tokens=100_000, max_wall_clock=timedelta(seconds=2)))

    assert result.status is LoopStatus.TIMEOUT
    assert "A" in (result.report or "")
    assert [(s.tool, s.success) for s in result.steps] == [("a", True), ("b", False)]


async def test_a_loop_without_tool_calls_left_answers_with_what_it_has(client: Client) -> None:
    def script(place: int, request: Any) -> Any:
        return "so far: A" if request.must_answer else call("abcd"[place % 4])

    async with loop_stage(client, script) as it:
        result = await it.run(limits=Limits(max_tokens=100_000, max_tool_calls=2))

    assert result.status is LoopStatus.BUDGET_EXHAUSTED
    assert result.report == "so far: A"
    assert len(it.tools.calls) == 2
    assert result.budget.tool_calls == 2


async def test_a_loop_without_tokens_left_ends_with_a_partial_answer(client: Client) -> None:
    def script(place: int, _: Any) -> Any:
        return call("abcd"[place % 4])

    async with loop_stage(client, script) as it:
        result = await it.run(limits=Limits(max_tokens=2500), loop={"step_output_tokens": 200})

    assert result.status is LoopStatus.BUDGET_EXHAUSTED
    assert (result.report or "").startswith("Partial answer")
    assert result.budget.tokens <= 2500


async def test_a_cancelled_loop_gives_what_it_has_found(client: Client) -> None:
    started = asyncio.Event()

    async def hang(_: object) -> str:
        started.set()
        await asyncio.sleep(60)
        return "late"

    async with loop_stage(client, [call("a"), call("b")], outcomes={"b": [hang]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(started.wait(), 20)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is LoopStatus.CANCELLED
    assert "A" in (result.report or "")
    assert await failed_tasks(handle) == 0


async def test_facts_are_remembered_and_recalled(client: Client) -> None:
    script = [
        [("remember", {"key": "port", "value": "the port is 8443"}), ("a", {})],
        call("recall", key="port"),
        call("recall", key="prot"),
        "done",
    ]
    async with loop_stage(client, script) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    by_call = {s.call: s for s in result.steps}
    assert by_call["1.1"].success
    assert by_call["2.1"].result == "the port is 8443"
    assert by_call["3.1"].error_code is ErrorCode.MISSING_INFO or "port" in (by_call["3.1"].error or "")
    assert result.budget.tool_calls == 4


async def test_useless_outputs_are_told_to_the_model_and_end_the_loop_when_they_go_on(client: Client) -> None:
    cut = ModelError(ErrorCode.OUTPUT_TRUNCATED, "the answer was cut at the limit of 10 output tokens")
    async with loop_stage(client, [cut]) as it:
        result = await it.run()

    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.OUTPUT_TRUNCATED
    assert len(it.model.requests) == 3


async def test_a_model_that_may_not_be_used_ends_the_loop_at_once(client: Client) -> None:
    async with loop_stage(client, [ModelError(ErrorCode.AUTHENTICATION, "401")]) as it:
        result = await it.run()

    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.AUTHENTICATION
    assert len(it.model.requests) == 1


async def test_a_running_loop_tells_its_state_and_takes_more_budget(client: Client) -> None:
    started, released = asyncio.Event(), asyncio.Event()

    async def hang(_: object) -> str:
        started.set()
        await asyncio.wait_for(released.wait(), 30)
        return "released"

    async with loop_stage(client, [call("a"), call("b"), "done"], outcomes={"b": [hang]}, toolkit=patient) as it:
        handle = await it.start()
        await asyncio.wait_for(started.wait(), 20)
        view = await handle.query(AgentLoopWorkflow.state)
        await extend_twice(handle, Extension(message_id="m1", tool_calls=7))
        released.set()
        result = await asyncio.wait_for(handle.result(), 20)

    assert view.phase is LoopPhase.ACTING
    assert view.in_flight == ("b",)
    assert view.steps_made == 2
    assert result.budget.max_tool_calls == 10_007
    assert kinds(result, TraceKind.BUDGET_EXTEND) == ["budget.extend"]


async def test_a_loop_that_may_use_no_tool_says_so_instead_of_answering(client: Client) -> None:
    async with loop_stage(client, ["made up"]) as it:
        result = await it.run(allow=("nosuch*",))

    assert (result.status, result.error_code) == (LoopStatus.FAILED, ErrorCode.INVALID_ARGUMENT)
    assert "the run may use no tool of toolkit 'stage'" in (result.error or "")
    assert "'nosuch*'" in (result.error or "")
    assert result.report is None
    assert it.model.requests == []


async def test_an_answer_with_a_doubtful_figure_is_taken_when_its_correction_comes_to_nothing(client: Client) -> None:
    script = ["Open 365.5 days a year.", ModelError(ErrorCode.AUTHENTICATION, "401")]
    async with loop_stage(client, script) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    assert result.report == "Open 365.5 days a year."
    assert result.ungrounded == ("365.5",)
    assert result.error is None


async def test_a_tool_that_writes_and_refuses_on_purpose_may_be_called_again(client: Client) -> None:
    refused = ToolError(ErrorCode.MISSING_INFO, "not open yet")
    script = [call("write"), call("write"), call("write"), "done"]
    async with loop_stage(client, script, outcomes={"write": [refused, "WRITTEN"]}) as it:
        result = await it.run()

    assert result.status is LoopStatus.COMPLETED
    assert [step.success for step in result.steps] == [False, True, False]
    assert it.tools.count("write") == 2
    assert "was made before" in (result.steps[2].error or "")


async def test_names_of_the_memory_belong_to_a_toolkit_in_plans_and_are_refused_in_loops(client: Client) -> None:
    def own(tools: ScriptedTools) -> Toolkit:
        return tools.toolkit(("remember", "a"))

    async with loop_stage(client, ["never"], toolkit=own) as it:
        loop = await it.run()
    async with stage(client, fan_in("remember"), toolkit=own) as it_plans:
        plan_run = await it_plans.run()

    assert (loop.status, loop.error_code) == (LoopStatus.FAILED, ErrorCode.INVALID_ARGUMENT)
    assert "'remember'" in (loop.error or "")
    assert plan_run.status is RunStatus.SUCCEEDED
    assert it_plans.tools.count("remember") == 1
