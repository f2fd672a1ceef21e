import asyncio
import threading
import time

import pytest

from activities.loop_watchdog import watched_loop


async def test_a_blocked_loop_is_noticed_and_named(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = threading.Event()

    with watched_loop(limit_s=0.2, on_blocked=blocked.set):
        await asyncio.sleep(0)
        while not blocked.is_set():
            time.sleep(0.01)  # noqa: ASYNC251 - blocking is the point

    assert "test_a_blocked_loop_is_noticed_and_named" in caplog.text
    assert "plain function" in capsys.readouterr().err


async def test_a_loop_that_runs_is_left_alone() -> None:
    blocked = threading.Event()

    with watched_loop(limit_s=0.2, on_blocked=blocked.set):
        await asyncio.sleep(0.6)

    assert not blocked.is_set()
