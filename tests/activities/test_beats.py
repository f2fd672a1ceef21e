import asyncio
import contextvars
import gc
from weakref import ref

import pytest

from activities.beats import Beats

INTERVAL_S = 0.05
NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")


async def test_each_beats_in_its_own_context_until_it_is_stopped() -> None:
    beats, heard = Beats(INTERVAL_S), []

    async def call(name: str, length_s: float) -> None:
        NAME.set(name)
        beat = beats.start(lambda: heard.append(NAME.get()))
        await asyncio.sleep(length_s)
        beats.stop(beat)

    await asyncio.gather(call("long", 3.5 * INTERVAL_S), call("short", 1.5 * INTERVAL_S), call("none", 0))
    heard_while_running = list(heard)
    await asyncio.sleep(2 * INTERVAL_S)

    assert heard == heard_while_running
    assert 2 <= heard.count("long") <= 3
    assert heard.count("short") == 1
    assert "none" not in heard


async def test_one_that_starts_when_all_others_have_stopped_beats_too() -> None:
    beats, heard = Beats(INTERVAL_S), []
    for _ in range(2):
        beat = beats.start(lambda: heard.append(1))
        await asyncio.sleep(1.5 * INTERVAL_S)
        beats.stop(beat)
        await asyncio.sleep(2 * INTERVAL_S)

    assert len(heard) == 2


async def test_one_that_fails_keeps_neither_itself_nor_others_from_beating() -> None:
    beats, heard, told = Beats(INTERVAL_S), [], []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))

    def failing() -> None:
        raise ValueError("no")

    beats.start(failing)
    beats.start(lambda: heard.append(1))
    await asyncio.sleep(2.5 * INTERVAL_S)

    assert len(heard) == len(told) == 2


async def test_a_beat_that_is_stopped_while_another_beats_is_silent() -> None:
    beats, heard = Beats(INTERVAL_S), []
    beats.start(lambda: beats.stop(second))
    second = beats.start(lambda: heard.append(1))
    await asyncio.sleep(1.5 * INTERVAL_S)

    assert not heard


@pytest.mark.filterwarnings("error")
def test_an_event_loop_is_not_kept() -> None:
    beats = Beats(INTERVAL_S)
    loop = asyncio.new_event_loop()

    async def call() -> None:
        beats.stop(beats.start(lambda: None))

    loop.run_until_complete(call())
    loop.close()
    known = ref(loop)
    del loop
    gc.collect()

    assert known() is None
