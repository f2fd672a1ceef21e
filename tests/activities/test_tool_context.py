import asyncio
import contextlib
import logging
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.exceptions import ApplicationError

from activities.model.client import OpenAIModel
from activities.settings import WorkerSettings
from activities.toolkit import ToolContext, tool
from harness.artifact import Artifact
from harness.errors import ErrorCode, ToolError
from harness.usage import TryRecord, Usage
from tests.activities.tool_calls import call, environment, failure

SECRET = "s3cr3t-canary"
EARLIER = (
    TryRecord(
        number=1,
        code=ErrorCode.TIMEOUT,
        message="slow",
        usage=Usage(),
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        latency_ms=5,
        queue_ms=1,
    ),
)


@tool()
async def tell_keys(context: ToolContext) -> dict[str, JsonValue]:
    """Tell what identifies the call."""
    return {
        "run": context.run_id,
        "node": context.node_id,
        "try": context.try_number,
        "key": context.idempotency_key,
        "try_id": context.try_id,
        "left_s": (context.deadline - datetime.now(UTC)).total_seconds(),
    }


async def told(try_number: int) -> dict[str, Any]:
    value = (await call(tell_keys, env=environment(tell_keys, try_number=try_number))).value
    assert isinstance(value, dict)
    return value


async def test_a_key_is_that_of_the_node_and_an_id_that_of_the_try() -> None:
    first, second = await told(1), await told(2)

    assert (first["run"], first["node"], first["try"]) == ("r", "n", 1)
    assert first["key"] == second["key"] == "r/n@0"
    assert first["try_id"]
    assert first["try_id"] != second["try_id"]
    assert 4 < first["left_s"] <= 5


@tool()
async def progress(context: ToolContext) -> str:
    """Say how far it is."""
    context.heartbeat(f"half done with {SECRET}\udcad")
    context.heartbeat()
    await asyncio.sleep(0.05)
    return "done"


@tool()
def progress_in_a_thread(context: ToolContext) -> str:
    """Say how far it is."""
    context.heartbeat("half done with it")
    time.sleep(0.05)
    return "done"


@tool()
def progress_in_a_thread_of_its_own(context: ToolContext) -> str:
    """Say how far it is."""
    teller = threading.Thread(target=context.heartbeat, args=("half done with it",))
    teller.start()
    teller.join()
    time.sleep(0.05)
    return "done"


@pytest.mark.parametrize(
    "tried",
    [progress, progress_in_a_thread, progress_in_a_thread_of_its_own],
    ids=["async", "thread", "a thread of its own"],
)
async def test_a_heartbeat_of_a_tool_keeps_the_record_of_earlier_tries(tried: Any) -> None:
    env, beats = environment(tried, try_number=2, earlier=EARLIER), list[tuple[Any, ...]]()
    env.on_heartbeat = lambda *details: beats.append(details)

    reply = await call(tried, env=env, secrets=(SECRET,))

    assert reply.tries == EARLIER
    assert beats
    for records, message in beats:
        assert [TryRecord.model_validate(record) for record in records] == [*EARLIER]
        assert message.startswith("half done with")
        assert SECRET not in message
        message.encode()


async def test_a_message_stays_while_the_worker_beats_and_a_failure_is_recorded_beside_it() -> None:
    @tool()
    async def fail(context: ToolContext) -> str:
        """Fail."""
        context.heartbeat("almost")
        await asyncio.sleep(0.01)
        raise ToolError(ErrorCode.RATE_LIMITED, "wait")

    env, beats = environment(fail), list[tuple[Any, ...]]()
    env.on_heartbeat = lambda *details: beats.append(details)

    await failure(fail, env=env)

    records, message = beats[-1]
    assert [record["code"] for record in records] == ["RATE_LIMITED"]
    assert message == "almost"


async def test_heartbeats_in_quick_succession_are_few_and_the_last_message_counts() -> None:
    @tool()
    async def chatter(context: ToolContext) -> int:
        """Talk a lot."""
        for number in range(10_000):
            context.heartbeat(f"{number}")
        await asyncio.sleep(0.01)
        return 1

    env, beats = environment(chatter), list[tuple[Any, ...]]()
    env.on_heartbeat = lambda *details: beats.append(details)

    await call(chatter, env=env)

    assert 1 <= len(beats) <= 10


async def test_a_tool_that_has_ended_without_waiting_says_no_more() -> None:
    contexts: list[ToolContext] = []

    @tool()
    async def quick(context: ToolContext) -> int:
        """End at once, and leave the context to somebody."""
        contexts.append(context)
        return 1

    env, beats = environment(quick), list[tuple[Any, ...]]()
    env.on_heartbeat = lambda *details: beats.append(details)

    await call(quick, env=env)
    contexts[0].heartbeat("too late")
    await asyncio.sleep(0.01)  # a heartbeat goes through the event loop

    assert beats == []


@pytest.mark.parametrize("first_s", [0.06, 0.2], ids=["within the limit", "beyond it"])
async def test_time_that_a_tool_spends_before_it_first_waits_counts(first_s: float) -> None:
    ends: list[str] = []

    @tool(timeout=timedelta(seconds=0.1))
    async def slow(seconds: float) -> str:
        """Keep the event loop, and then wait."""
        time.sleep(seconds)  # noqa: ASYNC251 - what a tool should not do, and does
        await asyncio.sleep(0.06)
        ends.append("late")
        return "late"

    error = await failure(slow, {"seconds": first_s})

    assert error.type == ErrorCode.TIMEOUT
    assert ends == []


async def test_a_tool_that_has_kept_the_event_loop_beats_as_soon_as_it_waits() -> None:
    @tool()
    async def slow() -> int:
        """Keep the event loop, and then wait."""
        time.sleep(1.01)  # noqa: ASYNC251 - what a tool should not do, and does
        await asyncio.sleep(0.01)
        return 1

    env, beats = environment(slow), list[tuple[Any, ...]]()
    env.on_heartbeat = lambda *details: beats.append(details)

    await call(slow, env=env)

    assert len(beats) == 1


@tool(timeout=timedelta(seconds=0.2))
def stubborn(context: ToolContext) -> str:
    """Work until told to stop."""
    STARTED.set()
    if context.cancelled.wait(10):
        STOPPED.append(context.is_cancelled)
    context.heartbeat("too late")
    return "late"


STARTED = threading.Event()
STOPPED: list[bool] = []


async def until_stopped() -> None:
    async with asyncio.timeout(5):
        while not STOPPED:  # noqa: ASYNC110 - set by a thread
            await asyncio.sleep(0.01)


async def test_a_plain_function_sees_that_its_time_is_up() -> None:
    STOPPED.clear()

    error = await failure(stubborn)
    await until_stopped()

    assert error.type == ErrorCode.TIMEOUT
    assert STOPPED == [True]


async def test_a_plain_function_sees_that_it_was_cancelled() -> None:
    STOPPED.clear()
    STARTED.clear()
    slow = tool(timeout=timedelta(seconds=30))(stubborn.function)
    env = environment(slow)
    running = asyncio.create_task(call(slow, env=env))
    await asyncio.to_thread(STARTED.wait, 5)

    env.cancel()
    with contextlib.suppress(ApplicationError, asyncio.CancelledError):
        await asyncio.wait_for(running, 5)
    await until_stopped()

    assert STOPPED == [True]


@tool()
async def keep(context: ToolContext) -> Artifact:
    """Keep bytes."""
    return await context.artifacts.put(b"\x00 some bytes")


@tool()
def keep_in_a_thread(context: ToolContext) -> Artifact:
    """Keep bytes."""
    return context.artifacts.put_blocking(b"\x00 some bytes")


@tool()
async def find(digest: str, context: ToolContext) -> str:
    """Find bytes."""
    return (await context.artifacts.get(digest)).decode()


@tool()
def find_in_a_thread(digest: str, context: ToolContext) -> str:
    """Find bytes."""
    return context.artifacts.get_blocking(digest).decode()


@pytest.mark.parametrize(
    ("keeps", "finds"), [(keep, find), (keep_in_a_thread, find_in_a_thread)], ids=["async", "thread"]
)
async def test_a_tool_finds_what_another_one_of_its_run_has_kept(keeps: Any, finds: Any) -> None:
    kept = Artifact.model_validate((await call(keeps)).value)

    assert kept.size == 12
    assert (await call(finds, {"digest": kept.digest})).value == "\x00 some bytes"


async def test_a_tool_finds_nothing_of_another_run_and_no_path_leads_out() -> None:
    kept = Artifact.model_validate((await call(keep)).value)
    env = environment(find)
    env.info = type(env.info)(**{**vars(env.info), "workflow_id": "another"})

    assert (await failure(find, {"digest": kept.digest}, env=env)).type == ErrorCode.ARTIFACT_LOST
    assert (await failure(find, {"digest": f"../r/{kept.digest}"})).type == ErrorCode.ARTIFACT_LOST


async def test_the_blocking_forms_refuse_to_block_the_event_loop() -> None:
    @tool()
    async def wrong(context: ToolContext) -> Artifact:
        """Block."""
        return context.artifacts.put_blocking(b"x")

    assert "async tool awaits" in (await failure(wrong)).message


async def test_a_log_record_carries_the_call_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    @tool()
    async def chatty(context: ToolContext) -> str:
        """Log."""
        context.logger.warning("using %s", SECRET, extra={"step": 3})
        context.logger.warning("%(key)s", {"key": SECRET})
        context.logger.warning("%d sure", "never")
        try:
            int(SECRET)
        except ValueError:
            context.logger.exception("no luck")
        return "ok"

    with caplog.at_level(logging.INFO, "whippletree.tools"):
        await call(chatty, env=environment(chatty, try_number=2), secrets=(SECRET,))

    records = [record for record in caplog.records if record.name == "whippletree.tools"]
    assert [record.getMessage().split("\n")[0] for record in records] == [
        "using ***", "***", "%d sure ('never',)", "no luck"
    ]  # fmt: skip
    assert "ValueError: " in records[3].getMessage()
    assert SECRET not in caplog.text
    for record in records:
        assert (record.__dict__["run_id"], record.__dict__["node_id"], record.__dict__["try_number"]) == ("r", "n", 2)
        assert record.filename == "test_tool_context.py"
    assert records[0].__dict__["step"] == 3


async def test_a_context_made_by_hand_works_without_temporal() -> None:
    context = ToolContext(
        run_id="run",
        node_id="n",
        try_number=1,
        idempotency_key="key",
        deadline=datetime(2026, 1, 1, tzinfo=UTC),
        model=OpenAIModel(WorkerSettings()),
        max_tokens=0,
    )

    context.heartbeat("working")
    context.logger.info("working")
    kept = await context.artifacts.put(b"x")

    assert await context.artifacts.get(kept.digest) == b"x"
    assert await asyncio.to_thread(context.artifacts.get_blocking, kept.digest) == b"x"
    assert not context.is_cancelled
