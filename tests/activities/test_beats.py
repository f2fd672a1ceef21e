import asyncio
import contextvars
import gc
from collections.abc import Callable
from dataclasses import replace
from weakref import ref

from temporalio.testing import ActivityEnvironment

from activities.beats import Beats
from activities.try_ledger import _BEATS, TryLedger

INTERVAL_S = 0.02
NAME: contextvars.ContextVar[object] = contextvars.ContextVar("name")


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, at most some seconds."""
    async with asyncio.timeout(5):
        while not is_so():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(INTERVAL_S / 4)


async def test_each_beats_in_its_own_context_until_it_is_stopped() -> None:
    beats, heard = Beats(INTERVAL_S), []

    async def call(name: str, least: int) -> None:
        NAME.set(name)
        beat = beats.start(lambda: heard.append(NAME.get()))
        await until(lambda: heard.count(name) >= least)
        beats.stop(beat)

    await asyncio.gather(call("long", 5), call("short", 2), call("none", 0))
    known = list(heard)
    await asyncio.sleep(3 * INTERVAL_S)

    assert heard == known
    assert heard.count("long") == 5
    assert heard.count("short") == 2
    assert "none" not in heard


async def test_one_that_starts_when_all_others_have_stopped_beats_too() -> None:
    beats, heard = Beats(INTERVAL_S), []
    for number in range(3):
        beat = beats.start(lambda number=number: heard.append(number))
        await until(lambda number=number: number in heard)
        beats.stop(beat)
        await asyncio.sleep(2 * INTERVAL_S)

    assert heard == [0, 1, 2]


async def test_one_that_fails_keeps_neither_itself_nor_others_from_beating() -> None:
    beats, heard, told = Beats(INTERVAL_S), [], []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))

    def failing() -> None:
        raise ValueError("no")

    started = [beats.start(failing), beats.start(lambda: heard.append(1))]
    await until(lambda: len(heard) >= 3 and len(told) >= 3)
    for beat in started:
        beats.stop(beat)


async def test_a_beat_that_is_stopped_while_another_beats_is_silent() -> None:
    beats, heard, stopped = Beats(INTERVAL_S), [], []
    first = beats.start(lambda: stopped.append(beats.stop(second)))
    second = beats.start(lambda: heard.append(1))
    await until(lambda: len(stopped) >= 2)
    beats.stop(first)

    assert not heard


async def test_the_timer_keeps_nothing_of_the_call_that_started_it() -> None:
    class Large:
        """Something that a call has in its context."""

    beats = Beats(INTERVAL_S)

    def begin() -> ref[Large]:
        large = Large()
        NAME.set(large)
        beats.stop(beats.start(lambda: None))
        return ref(large)

    known = contextvars.Context().run(begin)
    gc.collect()

    assert known() is None


def test_an_event_loop_that_has_ended_is_forgotten() -> None:
    env = ActivityEnvironment()
    env.info = replace(env.info, attempt=1)

    async def call() -> None:
        async with TryLedger.resume().beating():
            await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(env.run(call))
    assert loop in _BEATS
    known = ref(loop)
    loop.close()
    del loop
    gc.collect()

    assert known() is None
