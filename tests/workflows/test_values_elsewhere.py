"""A goal whose private values lie in a store that the workers do not share: the run says so, and asks no model."""

import asyncio

import pytest
from temporalio.client import Client

from harness.errors import ErrorCode
from harness.loop import LoopStatus
from harness.run import RunStatus
from tests.loop_stage import loop_stage
from tests.stage import fan_in, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

GOAL = "write to <EMAIL_0123abcd>"
ADVICE = "must share one store (WHIPPLETREE_ARTIFACTS)"


async def test_a_loop_ends_with_advice(client: Client) -> None:
    async with loop_stage(client, ["done"]) as it:
        result = await it.run(GOAL)

    assert (result.status, result.error_code) == (LoopStatus.FAILED, ErrorCode.ARTIFACT_LOST)
    assert ADVICE in (result.error or "")
    assert it.model.requests == []


async def test_a_plan_run_ends_with_advice(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        handle = await it.start(GOAL)
        result = await asyncio.wait_for(handle.result(), 30)

    assert (result.status, result.error_code) == (RunStatus.FAILED_PLANNING, ErrorCode.ARTIFACT_LOST)
    assert ADVICE in (result.error or "")
    assert it.model.requests == []
