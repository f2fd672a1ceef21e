"""No input and no plan leaves a run RUNNING without progress (PITFALLS A5, A14, and what a raw client may send)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from activities.toolkit import Report
from harness.budget import Limits
from harness.errors import ErrorCode
from harness.run import RunStatus
from harness.schedule import Schedule
from harness.trace import TraceKind
from tests.builders import node, plan
from tests.replay.histories import failed_tasks
from tests.stage import fan_in, stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEGABYTE = 1_000_000


RAW = {
    "nothing at all": [],
    "null": [None],
    "a text": ["a calm game"],
    "a list": [[1, 2]],
    "no goal": [{}],
    "an empty goal": [{"goal": ""}],
    "a blank goal": [{"goal": " \n "}],
    "a goal that is no text": [{"goal": 7}],
    "a goal of 1 MB": [{"goal": "g" * MEGABYTE}],
    "an unknown field": [{"goal": "g", "surprise": 1}],
    "a negative limit": [{"goal": "g", "options": {"limits": {"max_tokens": -1}}}],
    "a limit that is no number": [{"goal": "g", "options": {"limits": {"max_cost_usd": "NaN"}}}],
    "a cost of a billion digits": [{"goal": "g", "options": {"limits": {"max_cost_usd": "1e-999999999"}}}],
    "an endless wall clock": [{"goal": "g", "options": {"limits": {"max_wall_clock": 1e300}}}],
    "a broken carry": [{"goal": "g", "carry": {"attempt": "many"}}],
    "too many arguments": [{"goal": "g"}, {"goal": "h"}, 3],
}


@pytest.mark.parametrize("arguments", RAW.values(), ids=RAW.keys())
async def test_what_a_raw_client_sends_fails_at_once_with_a_typed_reason(client: Client, arguments: list[Any]) -> None:
    async with stage(client, fan_in("a")) as it:
        handle = await client.start_workflow(
            "OrchestratorWorkflow", args=arguments, id=f"raw-{it.task_queue}", task_queue=it.task_queue
        )
        with pytest.raises(WorkflowFailureError) as failure:
            await asyncio.wait_for(handle.result(), 10)

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type in {"ValidationError", "INTERNAL"}
    assert len(str(failure.value.cause)) < 5000
    assert await failed_tasks(handle) == 0


async def test_an_unknown_toolkit_fails_the_run_by_name(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        handle = await client.start_workflow(
            "OrchestratorWorkflow", {"goal": "g", "toolkit": "nope"}, id="run-nope", task_queue=it.task_queue
        )
        with pytest.raises(WorkflowFailureError) as failure:
            await asyncio.wait_for(handle.result(), 10)

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "UNKNOWN_TOOLKIT"
    assert "nope" in failure.value.cause.message
    assert "stage" in failure.value.cause.message


def lose_a_key() -> object:
    return {}["gone"]


def misread_a_value() -> object:
    return Limits.model_validate({"max_tokens": -1})


def break_a_rule() -> object:
    raise ValueError("a rule is broken")


@pytest.mark.parametrize(
    ("bug", "named"),
    [(lose_a_key, "KeyError"), (misread_a_value, "ValidationError"), (break_a_rule, "ValueError")],
    ids=["KeyError", "ValidationError", "ValueError"],
)
async def test_a_bug_in_workflow_code_ends_the_run_as_internal(
    client: Client, monkeypatch: pytest.MonkeyPatch, bug: Callable[[], object], named: str
) -> None:
    def broken(*_: object, **__: object) -> object:
        return bug()

    monkeypatch.setattr("harness.budget.Budget.settle", broken)
    async with stage(client, fan_in("a")) as it:
        handle = await it.start()
        result = await asyncio.wait_for(handle.result(), 10)

    assert result.status is RunStatus.FAILED_PLANNING
    assert result.error_code is ErrorCode.INTERNAL
    assert named in (result.error or "")
    assert await failed_tasks(handle) == 0


async def test_a_bug_while_nodes_run_cancels_them_and_keeps_what_is_done(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Schedule.finish

    def broken(self: Schedule, node_id: str) -> tuple[str, ...]:
        if node_id == "n_b":
            raise ValueError("lost count")
        return finish(self, node_id)

    monkeypatch.setattr("harness.schedule.Schedule.finish", broken)
    async with stage(client, fan_in("a", "b", "c")) as it:
        handle = await it.start(max_concurrency=1)
        result = await asyncio.wait_for(handle.result(), 10)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.INTERNAL
    assert result.plan[0].status == "DONE"
    assert await failed_tasks(handle) == 0


async def test_a_stalled_scheduler_is_an_internal_failure_not_a_hang(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.validation.validate", lambda *_, **__: ())
    circle = plan(node("x", "a", deps=["y"]), node("y", "b", deps=["x"]))
    async with stage(client, circle) as it:
        result = await it.run(within=10)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.INTERNAL
    assert "pending" in (result.error or "")


async def test_a_tool_that_left_the_worker_fails_its_node_as_unknown(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        del it.served["a"]
        result = await it.run(max_replans=0)

    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.UNKNOWN_TOOL


BROKEN_PLANS = {
    "self-dependency": (plan(node("x", "a", deps=["x"])), ["'x'"]),
    "circle of two": (plan(node("x", "a", deps=["y"]), node("y", "b", deps=["x"])), ["'x' -> 'y' -> 'x'"]),
    "circle beside a good node": (
        plan(
            node("good", "d"),
            node("x", "a", deps=["z"]),
            node("y", "b", deps=["x"]),
            node("z", "c", deps=["y"]),
        ),
        ["x", "y", "z"],
    ),
    "ghost": (plan(node("x", "a", deps=["ghost"])), ["ghost"]),
    "both faults": (plan(node("x", "a", deps=["x"]), node("y", "b", deps=["ghost"])), ["'x'", "ghost"]),
    "empty": (plan(), ["at least one node"]),
}


@pytest.mark.parametrize(("broken", "named"), BROKEN_PLANS.values(), ids=BROKEN_PLANS.keys())
async def test_a_broken_plan_is_refused_by_name_and_the_planner_is_told(
    client: Client, broken: Any, named: list[str]
) -> None:
    async with stage(client, broken, fan_in("a")) as it:
        result = await it.run(within=10)

    assert result.status is RunStatus.SUCCEEDED
    told = it.model.requests[1].user
    (finding,) = [
        e.message or "" for e in result.trace if e.kind is TraceKind.VALIDATION_FINISH and e.status == "FAILED"
    ]
    for name in named:
        assert name in finding
        assert name in told


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


ODD_RESULTS = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a lone surrogate": "bad \udcad text",
    "bytes that are no text": b"\xff\xfe",
    "an object": object(),
    "nesting without end": nested(150),
    "NaN inside": {"deep": [1.0, float("nan")]},
}


@pytest.mark.parametrize("odd", ODD_RESULTS.values(), ids=ODD_RESULTS.keys())
async def test_a_result_that_no_server_can_carry_fails_its_node_once(client: Client, odd: Any) -> None:
    async with stage(client, fan_in("a"), outcomes={"a": [odd]}) as it:
        result = await it.run(max_replans=0, within=15)

    assert it.tools.count("a") == 1
    assert result.status is RunStatus.FAILED_EXECUTION
    assert result.error_code is ErrorCode.INVALID_OUTPUT


async def test_a_report_tool_that_returns_no_report_is_no_success(client: Client) -> None:
    async with stage(client, fan_in("a"), outcomes={"write_report": [Report(report="\n\t ")]}) as it:
        result = await it.run(max_replans=0, retry_wait=timedelta(0))

    assert result.status is RunStatus.FAILED_VERIFICATION


async def test_a_raw_client_with_the_least_request_gets_a_result(client: Client) -> None:
    async with stage(client, fan_in("a")) as it:
        result = await client.execute_workflow(
            "OrchestratorWorkflow",
            {"goal": "g", "toolkit": "stage", "options": {"limits": {"max_wall_clock": 60}}},
            id="run-least",
            task_queue=it.task_queue,
            result_type=dict,
        )

    assert result["status"] == "SUCCEEDED"
