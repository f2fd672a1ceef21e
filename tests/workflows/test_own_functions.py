"""Two typed functions and a goal, without a model, a key or a tool that writes the report: the run succeeds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest
from pydantic import BaseModel
from temporalio.client import Client

from activities.model.client import OpenAIModel
from activities.served import Activities
from activities.settings import WorkerSettings
from activities.toolkit import Toolkit, tool
from activities.toolkit_loading import load_toolkit
from harness.carry import RunInput
from harness.run import RunOptions, RunResult, RunStatus
from harness.schedule import NodeStatus
from tests.sandbox import SANDBOX
from tests.stage import MEMORY
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ids = count(1)


class Forecast(BaseModel):
    """Weather to come."""

    city: str
    celsius: list[int]


@tool()
def count_visitors() -> int:
    """Count the visitors of the museum."""
    return 4711


@tool()
async def open_hours() -> dict[str, str]:
    """Tell when the museum is open."""
    return {"monday": "closed", "friday": "10-22"}


@tool()
def forecast(city: str, days: int) -> Forecast:
    """Forecast the weather.

    Args:
        city: Where.
        days: How many days ahead.
    """
    return Forecast(city=city, celsius=list(range(days)))


@tool()
async def sum_up(left: float, right: float) -> float:
    """Add two numbers."""
    return left + right


@asynccontextmanager
async def served(client: Client, *kits: Toolkit) -> AsyncIterator[tuple[str, str]]:
    """Serve toolkits together with the offline model; yield the name of the toolkit and the task queue."""
    queue = f"own-{next(_ids)}"
    kit = load_toolkit("+".join(each.name for each in kits), {each.name: each for each in kits})
    model = OpenAIModel(WorkerSettings())
    activities = Activities.of(kit, model, model.cards, MEMORY)
    async with build_worker(client, activities, task_queue=queue, workflow_runner=SANDBOX):
        yield kit.name, queue
    await model.close()


async def run(client: Client, goal: str, *kits: Toolkit) -> RunResult:
    async with served(client, *kits) as (name, queue):
        given = RunInput(goal=goal, toolkit=name, options=RunOptions(max_replans=0))
        handle = await client.start_workflow(OrchestratorWorkflow.run, given, id=queue, task_queue=queue)
        return await asyncio.wait_for(handle.result(), 30)


def results(result: RunResult) -> dict[str, NodeStatus]:
    return {report.node.tool: report.status for report in result.plan}


async def test_two_functions_are_called_and_reported_on(client: Client) -> None:
    result = await run(client, "how busy is the museum", Toolkit("museum", (count_visitors, open_hours)))

    assert result.status is RunStatus.SUCCEEDED
    assert set(results(result)) == {"count_visitors", "open_hours", "write_report"}
    assert "4711" in (result.report or "")
    assert "closed" in (result.report or "")
    assert "offline" in (result.report or "").lower()


async def test_arguments_are_taken_from_the_goal(client: Client) -> None:
    goal = "What will the weather be in New York for the next 3 days, and what is 1.5 plus 2?"
    result = await run(client, goal, Toolkit("weather", (forecast, sum_up)))

    assert result.status is RunStatus.SUCCEEDED
    assert set(results(result)) == {"forecast", "sum_up", "write_report"}
    literals = {
        argument.name: argument.value.literal_value
        for report in result.plan
        for argument in report.node.arguments
        if report.node.tool == "forecast"
    }
    assert literals == {"city": "New York", "days": "3"}
    assert "New York" in (result.report or "")


async def test_functions_of_two_toolkits_work_in_one_run(client: Client) -> None:
    museum, weather = Toolkit("museum", (count_visitors,)), Toolkit("weather", (forecast,))

    result = await run(client, "visitors of the museum; city: Oslo, days=2", museum, weather)

    assert result.status is RunStatus.SUCCEEDED
    assert set(results(result)) == {"count_visitors", "forecast", "write_report"}
    assert "Oslo" in (result.report or "")
