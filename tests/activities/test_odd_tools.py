"""Tools that do what no tool should do end with a typed error, and no run loses its reply."""

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import JsonValue, PlainSerializer

from activities.toolkit import Tool, tool
from harness.errors import ErrorCode
from tests.activities.tool_calls import call, failure


@pytest.mark.parametrize("waits", [0, 1], ids=["before it waits", "after it has waited"])
async def test_a_tool_that_cancels_its_own_task_and_returns_is_told_so(waits: int) -> None:
    @tool()
    async def quits() -> str:
        """Give up, and return all the same."""
        for _ in range(waits):
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "done"

    error = await failure(quits)

    assert error.message == "the tool cancelled itself"


def nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value


def deep(levels: int) -> Tool:
    @tool()
    async def deep() -> Annotated[Any, PlainSerializer(nested, return_type=Any, when_used="json")]:
        """Return what becomes a list of lists."""
        return levels

    return deep


async def test_a_result_that_its_own_serializer_nests_is_taken() -> None:
    assert (await call(deep(90))).value == nested(90)


@pytest.mark.parametrize("levels", [101, 150, 200])
async def test_a_result_that_its_own_serializer_nests_too_deep_is_refused(levels: int) -> None:
    assert (await failure(deep(levels))).type == ErrorCode.INVALID_OUTPUT
