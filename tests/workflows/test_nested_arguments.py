"""Arguments of any depth, written by a planner under the strict schema, reach the tool as they are (PITFALLS A12)."""

import asyncio
import json
from typing import Any

import pytest
from temporalio.client import Client

from activities.model.client import OpenAIModel
from activities.served import Activities
from activities.settings import WorkerSettings
from activities.toolkit import Report, Toolkit, tool
from harness.carry import RunInput
from harness.catalog import ToolRole
from harness.run import RunStatus
from tests.builders import literal, node, plan, result_of
from tests.scripted_model import Reply, ScriptedServer, completion
from tests.stage import MEMORY
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUERY = {
    "filter": {
        "and": [{"field": "price", "below": 29.99}, {"not": {"tags": ["hard", 'say "no"', "```json\n{}\n```"]}}]
    },
    "page": {"size": 3, "after": None, "is_last": False},
    "Größe": ["", " ", "\\", "😀", {}],
}


async def test_a_tool_receives_nested_arguments_exactly_as_they_were_planned(client: Client) -> None:
    received: list[Any] = []

    @tool()
    async def search(query: dict[str, Any], limits: list[list[int]]) -> str:
        """Search."""
        received.append((query, limits))
        return "found"

    @tool(role=ToolRole.FINAL_SYNTHESIS)
    async def write(found: str) -> Report:
        """Write."""
        return Report(report=found)

    kit = Toolkit("nested", (search, write))
    arguments = {"query": literal(json.dumps(QUERY, ensure_ascii=False)), "limits": literal("[[1, 2], []]")}
    drawn = plan(
        node("search", "search", arguments=arguments),
        node("write", "write", deps=["search"], arguments={"found": result_of("search")}),
    )
    async with ScriptedServer(Reply(body=completion(drawn.model_dump_json()))) as server:
        model = OpenAIModel(WorkerSettings(api_key="sk-x", base_url=server.url, model="scripted-1"))
        activities = Activities.of(kit, model, model.cards, MEMORY)
        async with build_worker(client, activities, task_queue="nested"):
            handle = await client.start_workflow(
                OrchestratorWorkflow.run, RunInput(goal="x", toolkit=kit.name), id="run-nested", task_queue="nested"
            )
            result = await asyncio.wait_for(handle.result(), 30)
        await model.close()

    assert result.status is RunStatus.SUCCEEDED, result.error
    assert received == [(QUERY, [[1, 2], []])]
