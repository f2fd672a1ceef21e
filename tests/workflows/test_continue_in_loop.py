"""An agent loop goes on in another workflow run when the history is long enough, and loses nothing on the way."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from activities.artifact_place import find_place
from activities.artifacts import ArtifactStore
from activities.model.request import ModelError, ModelRequest
from harness.budget import Extension
from harness.errors import ErrorCode, ToolError
from harness.loop import LoopResult, LoopStatus
from harness.trace import TraceKind
from tests.loop_stage import Move, call, loop_stage, steps_of, trace_of_loop
from tests.replay.histories import fetch_chain
from tests.stage import extend_twice, patient
from tests.temporal_server import dev_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUGGESTED_EVENTS = 40
"""Three steps make so many events."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def impatient() -> AsyncIterator[Client]:
    """Return a client of a server that soon suggests to continue as new."""
    async with dev_server(f"limit.historyCount.suggestContinueAsNew={SUGGESTED_EVENTS}") as environment:
        yield environment.client


def until_asked(*names: str) -> Any:
    """Return a script that calls these tools in turn for ever, and answers when it must."""

    def script(place: int, request: ModelRequest) -> Move:
        return "what I know" if request.must_answer else call(names[place % len(names)])

    return script


async def test_steps_facts_and_trace_are_whole_after_several_workflow_runs(impatient: Client) -> None:
    def script(place: int, _: ModelRequest) -> Move:
        if place == 0:
            return [("remember", {"key": "port", "value": "the port is 8443"}), ("a", {})]
        return call("abcd"[place % 4]) if place < 15 else call("recall", key="port") if place == 15 else "done"

    outcomes: dict[str, list[Any]] = {name: list(range(100)) for name in "abcd"}
    async with loop_stage(impatient, script, outcomes=outcomes) as it:
        handle = await it.start(run_id="loop-long")
        result = await asyncio.wait_for(handle.result(), 60)
        chain = await fetch_chain(it.client, handle)
        steps, trace = await steps_of(result), await trace_of_loop(result)

    assert result.status is LoopStatus.COMPLETED
    assert len(chain) > 3
    assert result.continued == len(chain) - 1
    assert result.steps_made == 17
    assert Counter(step.number for step in steps) == {1: 2, **dict.fromkeys(range(2, 17), 1)}
    assert steps[-1].result == "the port is 8443"
    assert sum(1 for event in trace if event.kind is TraceKind.STEP_FINISH) == 17
    assert sum(1 for event in trace if event.kind is TraceKind.RUN_START) == 1
    assert sum(1 for event in trace if event.kind is TraceKind.RUN_CONTINUE) == result.continued
    assert result.budget.tokens == 17 * 150
    assert result.budget.tool_calls == 17
    assert len(it.tools.calls) == 15
    assert len({each.key for each in it.tools.calls}) == 15


@pytest.mark.parametrize(
    ("names", "most"),
    [(("a",), 3), (("a", "b"), 6), (("a", "b", "c"), 9), (("a", "b", "c", "d"), 12)],
    ids=["A", "A-B-A-B", "A-B-C", "A-B-C-D"],
)
async def test_repeats_are_counted_across_workflow_runs(impatient: Client, names: tuple[str, ...], most: int) -> None:
    async with loop_stage(impatient, until_asked(*names)) as it:
        result = await it.run(loop={"max_steps": 100, "no_progress_steps": 100})

    assert result.status is LoopStatus.NO_PROGRESS
    assert result.report == "what I know"
    assert result.steps_made <= most
    assert len(it.tools.calls) <= most
    if len(names) > 1:
        assert result.continued > 0


async def test_steps_without_progress_are_counted_across_workflow_runs(impatient: Client) -> None:
    def script(place: int, request: ModelRequest) -> Move:
        if request.must_answer:
            return "what I know"
        return call("a") if place == 0 else call(f"missing_{place}")

    async with loop_stage(impatient, script) as it:
        result = await it.run(loop={"max_steps": 100, "no_progress_steps": 12})

    assert result.status is LoopStatus.NO_PROGRESS
    assert result.steps_made == 13


async def test_limits_of_steps_and_calls_hold_across_workflow_runs(impatient: Client) -> None:
    outcomes: dict[str, list[Any]] = {name: list(range(100)) for name in "ab"}
    async with loop_stage(impatient, until_asked("a", "b"), outcomes=outcomes) as it:
        by_steps = await it.run(loop={"max_steps": 9})
    async with loop_stage(impatient, until_asked("a", "b"), outcomes=outcomes) as it:
        by_calls = await it.run(limits={"max_tokens": 1_000_000, "max_tool_calls": 8, "max_cost_usd": 10})
        made = len(it.tools.calls)

    assert (by_steps.status, by_steps.steps_made) == (LoopStatus.MAX_STEPS_EXCEEDED, 9)
    assert by_steps.continued > 0
    assert by_calls.status is LoopStatus.BUDGET_EXHAUSTED
    assert made == 8 == by_calls.budget.tool_calls


async def test_messages_on_the_way_are_applied_exactly_once(impatient: Client) -> None:
    numbers = itertools.count()
    are_sent = False

    async def something_new(_: object) -> int:
        return next(numbers)

    def script(place: int, _: ModelRequest) -> Move:  # However long the messages take, the loop is there for them.
        return call("ab"[place % 2]) if place < 19 or not are_sent else "done"

    outcomes: dict[str, list[Any]] = {name: [something_new] for name in "ab"}
    async with loop_stage(impatient, script, outcomes=outcomes, delay_s=0.02) as it:
        handle = await it.start(
            limits={"max_tokens": 100_000_000, "max_tool_calls": 10_000, "max_cost_usd": 1000},
            loop={"max_steps": 10_000},
        )
        for number in range(5):
            await extend_twice(handle, Extension(message_id=f"m{number}", tool_calls=1))
            await asyncio.sleep(0.15)
        are_sent = True
        result = await asyncio.wait_for(handle.result(), 60)
        trace = await trace_of_loop(result)

    assert result.status is LoopStatus.COMPLETED
    assert result.budget.max_tool_calls == 10_005
    told = [event.data["message_id"] for event in trace if event.kind is TraceKind.BUDGET_EXTEND]
    assert told == [f"m{number}" for number in range(5)]


async def test_a_loop_whose_state_cannot_be_kept_goes_on_where_it_is(impatient: Client) -> None:
    result = await _with_broken_pages(impatient)

    assert result.status is LoopStatus.COMPLETED
    assert result.continued == 0
    failed = [e for e in result.trace if e.kind is TraceKind.RUN_CONTINUE and e.status == "FAILED"]
    assert len(failed) == 1


class NoPages(ArtifactStore):
    """A store that takes everything but lists of events and records."""

    async def put(self, owner: Any, data: bytes) -> str:
        if data.startswith(b'[{"timestamp"'):
            raise ToolError(ErrorCode.INVALID_ARGUMENT, "no pages here")
        return await super().put(owner, data)


async def _with_broken_pages(client: Client) -> LoopResult:
    def script(place: int, _: ModelRequest) -> Move:
        return call("abcd"[place % 4]) if place < 8 else "done"

    async with loop_stage(client, script, store=NoPages(find_place("memory://"))) as it:
        return await it.run()


async def test_a_cancel_between_workflow_runs_is_not_lost(impatient: Client) -> None:
    numbers = itertools.count()

    async def something_new(_: object) -> int:
        await asyncio.sleep(0.02)
        return next(numbers)

    outcomes: dict[str, list[Any]] = {"a": [something_new]}
    async with loop_stage(impatient, until_asked("a"), outcomes=outcomes, toolkit=patient, delay_s=0.02) as it:
        handle = await it.start(
            limits={"max_tokens": 100_000_000, "max_tool_calls": 10_000, "max_cost_usd": 1000},
            loop={"max_steps": 10_000},
        )
        async with asyncio.timeout(20):
            while len(it.model.requests) < 12:  # noqa: ASYNC110 - what a scripted model was asked has no event
                await asyncio.sleep(0.02)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is LoopStatus.CANCELLED
    assert result.report


class SlowPages(ArtifactStore):
    """A store that takes lists of events and records only after a minute."""

    is_asked = False

    async def put(self, owner: Any, data: bytes) -> str:
        if data.startswith(b'[{"'):
            self.is_asked = True
            await asyncio.sleep(60)
        return await super().put(owner, data)


async def test_a_cancel_while_the_state_is_being_kept_leaves_nothing_at_work(impatient: Client) -> None:
    store = SlowPages(find_place("memory://"))
    outcomes: dict[str, list[Any]] = {"a": list(range(100))}
    async with loop_stage(impatient, until_asked("a"), outcomes=outcomes, store=store) as it:
        handle = await it.start(loop={"max_steps": 200})
        async with asyncio.timeout(20):
            while not store.is_asked:  # noqa: ASYNC110 - the store of a worker has no event
                await asyncio.sleep(0.02)
        await handle.cancel()
        result = await asyncio.wait_for(handle.result(), 20)
        events = (await handle.fetch_history()).events

    assert result.status is LoopStatus.CANCELLED
    started = [event.event_id for event in events if event.HasField("activity_task_scheduled_event_attributes")]
    ended = {_scheduled(event) for event in events}
    assert [event_id for event_id in started if event_id not in ended] == []


def _scheduled(event: Any) -> int:
    """Return the activity that ended with an event; 0 when none did."""
    for end in ("completed", "failed", "timed_out", "canceled"):
        name = f"activity_task_{end}_event_attributes"
        if event.HasField(name):
            return int(getattr(event, name).scheduled_event_id)
    return 0


class LostCatalog(ArtifactStore):
    """A store that has lost the page with the catalog."""

    async def get(self, owner: Any, digest: str) -> bytes:
        data = await super().get(owner, digest)
        if data.startswith(b'{"catalog"'):
            raise ToolError(ErrorCode.INVALID_ARGUMENT, "the page is lost")
        return data


async def test_a_loop_whose_state_cannot_be_loaded_ends_with_what_it_has_found(impatient: Client) -> None:
    outcomes: dict[str, list[Any]] = {"a": [f"page {number}" for number in range(100)]}
    store = LostCatalog(find_place("memory://"))
    async with loop_stage(impatient, until_asked("a"), outcomes=outcomes, store=store) as it:
        result = await it.run()

    assert result.status is LoopStatus.FAILED
    assert result.error_code is ErrorCode.INVALID_ARGUMENT
    assert "the state of the loop could not be loaded: the page is lost" in (result.error or "")
    assert result.continued == 1
    assert result.steps_made == len(it.tools.calls) > 1
    assert (result.report or "").startswith("Partial answer")
    assert f"page {len(it.tools.calls) - 1}" in (result.report or "")


async def test_an_answer_that_is_to_be_corrected_goes_on_whole_and_with_its_figures(impatient: Client) -> None:
    answer = "It costs 98,765 EUR. " + "So it is." * 500
    # One call at a time, so that the number of events before each step does not depend on how they are timed.
    script = [call("a"), "", answer, ModelError(ErrorCode.AUTHENTICATION, "401")]

    async with loop_stage(impatient, script) as it:
        result = await it.run()
        trace = await trace_of_loop(result)

    kinds = [event.kind for event in trace if event.kind in {TraceKind.LOOP_HINT, TraceKind.RUN_CONTINUE}]
    assert kinds[-2:] == [TraceKind.LOOP_HINT, TraceKind.RUN_CONTINUE], "the correction is asked for by the second run"
    assert result.report == answer
    assert result.ungrounded == ("98,765",)
