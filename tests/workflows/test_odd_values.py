"""Odd values that a tool returns or is given: no call is repeated for them, and no run is stuck (PITFALLS A5)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from temporalio.client import Client

from activities.toolkit import Tool, Toolkit, tool
from harness.errors import ErrorClass, ErrorCode
from harness.plan import ArgumentValue
from harness.run import RunStatus
from tests.builders import literal, node, plan, result_of, results_of
from tests.replay.histories import failed_tasks
from tests.stage import ScriptedTools, fan_in, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


def selfish() -> list[Any]:
    """Return a list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


def selfish_object() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


REFUSED = {
    "a list in itself": selfish(),
    "an object in itself": selfish_object(),
    "a million levels": nested(100_000),
    "a set with NaN": {float("nan")},
    "an endless Decimal": Decimal("Infinity"),
    "NaN as Decimal": Decimal("NaN"),
    "a lone surrogate as key": {"\udcad": 1},
    "bytes in a list": [b"\xff"],
    "a generator's function": lambda: None,
    "an exception": ValueError("as a value"),
}


def returning(value: Any) -> Any:
    async def give(_: object) -> Any:
        return value

    return give


@pytest.mark.parametrize("odd", REFUSED.values(), ids=REFUSED)
async def test_a_result_that_is_no_json_fails_its_node_once(client: Client, odd: Any) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [returning(odd)]}) as it:
        handle = await it.start(max_replans=0)
        result = await asyncio.wait_for(handle.result(), 20)

    assert it.tools.count("a") == 1
    assert (result.status, result.error_code) == (RunStatus.FAILED_EXECUTION, ErrorCode.INVALID_OUTPUT)
    assert "a returned what no JSON of its type holds" in (result.error or "")
    assert await failed_tasks(handle) == 0


TAKEN = {
    "a Decimal": (Decimal("1.50"), "1.50"),
    "a time": (datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00Z"),
    "a date": (date(2026, 1, 31), "2026-01-31"),
    "a length of time": (timedelta(minutes=1), "PT1M"),
    "an id": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "bytes of text": (b"text", "text"),
    "a set": ({7}, [7]),
    "a tuple": ((1, "a"), [1, "a"]),
    "a huge integer": (10**40, 10**40),
    "an empty text": ("", ""),
    "a NUL": ("\x00", "\x00"),
    "3 MB of text": ("é" * 1_500_000, "é" * 1_500_000),
}


def beside(more: Tool) -> Callable[[ScriptedTools], Toolkit]:
    """Return what makes the toolkit of a stage, with one more tool in it."""

    def make(tools: ScriptedTools) -> Toolkit:
        kit = tools.toolkit()
        return replace(kit, tools=(*kit.tools, more))

    return make


@pytest.mark.parametrize(("odd", "taken"), TAKEN.values(), ids=TAKEN)
async def test_a_result_that_json_can_hold_reaches_the_next_tool(client: Client, odd: Any, taken: Any) -> None:
    given: list[Any] = []

    @tool()
    async def take(value: Any) -> str:
        """Take any value."""
        given.append(value)
        return "taken"

    drawn = plan(
        node("n_a", "a"),
        node("take", "take", deps=["n_a"], arguments={"value": result_of("n_a")}),
        node("report", "write_report", deps=["take"], arguments={"sources": results_of("take")}),
    )
    async with stage(client, drawn, outcomes={"a": [returning(odd)]}, toolkit=beside(take)) as it:
        handle = await it.start(max_replans=0)
        result = await asyncio.wait_for(handle.result(), 20)

    assert result.status is RunStatus.SUCCEEDED
    assert it.tools.count("a") == 1
    assert given == [taken]
    assert await failed_tasks(handle) == 0


GIVEN = {
    "NaN": literal("NaN"),
    "infinity": literal("Infinity"),
    "minus infinity": literal("-Infinity"),
    "more than a number holds": literal("1e999"),
    "no JSON": literal("{'single': 1}"),
    "a lone surrogate": literal("\udcad"),
    "an escaped lone surrogate": literal('"\\udcad"'),
    "a million levels": literal("[" * 100_000),
    "3 MB that is no number": literal("x" * 3_000_000),
    "a text": literal('"1"'),
    "a list": literal("[1]"),
    "nothing": literal(""),
    "a ghost": result_of("ghost"),
}


@pytest.mark.parametrize("odd", GIVEN.values(), ids=GIVEN)
async def test_an_argument_that_is_no_number_never_reaches_a_tool_that_takes_one(
    client: Client, odd: ArgumentValue
) -> None:
    given: list[float] = []

    @tool()
    async def take(value: float) -> str:
        """Take a number."""
        given.append(value)
        return "taken"

    drawn = plan(
        node("take", "take", arguments={"value": odd}),
        node("report", "write_report", deps=["take"], arguments={"sources": results_of("take")}),
    )
    async with stage(client, drawn, toolkit=beside(take)) as it:
        handle = await it.start(max_replans=1)
        result = await asyncio.wait_for(handle.result(), 20)

    assert given == []
    assert result.status in {RunStatus.FAILED_VALIDATION, RunStatus.FAILED_PLANNING}
    assert result.error_class in {ErrorClass.VALIDATION, ErrorClass.FATAL}
    assert len(it.model.requests) <= 2
    assert await failed_tasks(handle) == 0


async def test_an_odd_result_of_a_tool_that_writes_is_uncertain_and_never_written_again(client: Client) -> None:
    async with stage(client, fan_in("write"), outcomes={"write": [returning(selfish())]}) as it:
        result = await it.run(max_replans=2, allow_writes=True)

    assert it.tools.count("write") == 1
    assert result.error_code is ErrorCode.UNCERTAIN_EFFECT
