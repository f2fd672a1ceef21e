"""Work on a large text leaves the event loop to others."""

import threading

import pytest

from activities.off_loop import LARGE, off_loop


@pytest.mark.parametrize(("size", "is_apart"), [(0, False), (LARGE - 1, False), (LARGE, True), (8_000_000, True)])
async def test_work_on_a_large_text_is_done_in_a_thread(size: int, *, is_apart: bool) -> None:
    thread = await off_loop(threading.get_ident, size=size)

    assert (thread != threading.get_ident()) is is_apart
