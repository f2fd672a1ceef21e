"""Who shares a rate limit is known before anybody takes a turn."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities import fellow_workers
from activities.fellow_workers import NEWCOMER_S, Census
from activities.rate_gate import RateGate
from harness.catalog import RateLimit
from harness.errors import ErrorCode, ToolError
from harness.rate_limits import ALONE, Place

SECOND_OF_THREE = Place(rank=1, workers=3)
Answer = Place | RPCError


class Server:
    """Tells one answer after the other, the last one again and again; each takes a while."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def count(self, client: Client, queue: str) -> Place:
        assert (client, queue) == (CLIENT, "test")
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        await asyncio.sleep(0.05)
        if isinstance(answer, RPCError):
            raise answer
        return answer


class _NoClient(Client):
    def __init__(self) -> None:
        """Connect to nothing."""


CLIENT = _NoClient()
UNAVAILABLE = RPCError("no server", RPCStatusCode.UNAVAILABLE, b"")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Server]:
    def answering(*answers: Answer) -> Server:
        server = Server(*answers)
        monkeypatch.setattr(fellow_workers, "count", server.count)
        return server

    return answering


async def in_activity(call: Callable[[], Awaitable[Place]]) -> Place:
    async def activity() -> Place:
        return await call()

    return await ActivityEnvironment(client=CLIENT).run(activity)


async def test_calls_that_come_during_the_first_count_share_it_and_the_wait_of_a_newcomer(
    serve: Callable[..., Server],
) -> None:
    server, census, began = serve(SECOND_OF_THREE), Census(), monotonic()
    waits = list[float]()

    async def place() -> Place:
        found = await in_activity(census.place)
        waits.append(monotonic() - began)
        return found

    assert list(await asyncio.gather(place(), place(), place())) == [SECOND_OF_THREE] * 3
    assert min(waits) >= NEWCOMER_S
    assert server.asked == 1


async def test_a_call_that_is_cancelled_takes_no_count_from_the_others(serve: Callable[..., Server]) -> None:
    serve(SECOND_OF_THREE)
    census = Census()
    first = asyncio.create_task(in_activity(census.place))
    second = asyncio.create_task(in_activity(census.place))
    await asyncio.sleep(0.02)

    first.cancel()

    assert await asyncio.wait_for(second, 5) == SECOND_OF_THREE


async def test_a_worker_whose_first_count_failed_is_not_alone(serve: Callable[..., Server]) -> None:
    server, began = serve(UNAVAILABLE, SECOND_OF_THREE), monotonic()

    assert await asyncio.wait_for(in_activity(Census().place), 5) == SECOND_OF_THREE
    assert monotonic() - began >= NEWCOMER_S
    assert server.asked == 2


async def test_a_later_count_that_fails_leaves_a_worker_where_it_was(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fellow_workers, "COUNT_EVERY_S", 0.0)
    server, census = serve(ALONE, UNAVAILABLE), Census()

    assert [await in_activity(census.place), await in_activity(census.place)] == [ALONE, ALONE]
    assert server.asked == 2


async def test_a_call_gives_up_when_the_server_never_tells(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(UNAVAILABLE)
    monkeypatch.setattr("activities.rate_gate.LONGEST_WAIT_S", 0.3)
    gate = RateGate()

    async def activity() -> float:
        return await gate.enter("ask", RateLimit(name="fast", per_second=20), most_s=5)

    with pytest.raises(ToolError, match="fast: the server does not tell who else keeps this rate limit") as caught:
        await asyncio.wait_for(ActivityEnvironment(client=CLIENT).run(activity), 5)

    assert caught.value.code is ErrorCode.RATE_LIMITED
