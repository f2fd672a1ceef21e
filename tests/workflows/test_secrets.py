"""No secret in any byte that is kept: histories, logs, spans, results, errors (PITFALLS A18)."""

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.testing import WorkflowEnvironment

from activities.model.client import OpenAIModel
from activities.served import Activities
from activities.settings import WorkerSettings
from activities.toolkit import ToolContext
from harness.carry import RunInput
from harness.errors import ErrorCode, ToolError
from harness.run import RunOptions, RunResult, RunStatus
from tests.replay.histories import fetch_chain
from tests.scripted_model import Reply, ScriptedServer, completion, error
from tests.stage import MEMORY, ScriptedTools, fan_in
from tests.workflows.span_tree import collecting
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "sk-canary-key-0123456789"
USER, PASSWORD = "someone", "pass-canary-0123456789"
TOOL_SECRET = "tool-canary-0123456789"
CANARY = "canary"
PAIR = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
ECHO = Reply(
    401, error(f"Incorrect API key provided: {KEY}; user {USER}:{PASSWORD}, Basic {PAIR}, http://a:{PASSWORD}@b")
)
PLANNED = Reply(body=completion(fan_in("a").model_dump_json()))
Play = Callable[[ToolContext], Awaitable[str]]


async def succeed(_: ToolContext) -> str:
    return "fine"


async def tell(_: ToolContext) -> str:
    raise RuntimeError(f"401 for https://x:{TOOL_SECRET}@shop: key {TOOL_SECRET} is wrong")


async def tell_on_purpose(_: ToolContext) -> str:
    raise ToolError(ErrorCode.MISSING_INFO, f"the shop does not know {TOOL_SECRET}")


async def tell_late(_: ToolContext) -> str:
    raise TimeoutError(f"no answer to token={TOOL_SECRET} in time")


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


CASES = {
    "success": ([PLANNED], succeed, RunStatus.SUCCEEDED),
    "a 401 that echoes the key": ([ECHO], succeed, RunStatus.FAILED_PLANNING),
    "timeout": ([Reply(is_hanging=True)], succeed, RunStatus.FAILED_PLANNING),
    "an exception of a tool": ([PLANNED], tell, RunStatus.FAILED_EXECUTION),
    "an error of a tool": ([PLANNED], tell_on_purpose, RunStatus.FAILED_EXECUTION),
    "a timeout of a tool": ([PLANNED], tell_late, RunStatus.FAILED_EXECUTION),
}


@pytest.mark.parametrize("name", CASES)
async def test_no_secret_is_kept_anywhere(
    time_skipping: WorkflowEnvironment, logs: pytest.LogCaptureFixture, name: str
) -> None:
    replies, play, status = CASES[name]
    async with ScriptedServer(*replies) as server:
        with collecting() as collected:
            result, history = await _run(time_skipping.client, server, play, collected.plugins)

    spans = collected.spans
    seen = server.requests[0].headers["authorization"]
    kept = {
        "history": history,
        "result": result.model_dump_json().encode(),
        "logs": "\n".join(f"{record.getMessage()} {record.exc_text}" for record in logs.records).encode(),
        "formatted logs": logs.text.encode(),
        "spans": "\n".join(span.to_json() for span in spans).encode(),
    }
    assert result.status is status, result.error
    assert seen == f"Basic {PAIR}"  # the secrets were there to be leaked
    assert len(spans) >= 3
    assert logs.records
    assert {
        place: text.count(CANARY.encode()) + text.count(PAIR.encode()) for place, text in kept.items()
    } == dict.fromkeys(kept, 0)


async def _run(
    client: Client, server: ScriptedServer, play: Play, plugins: list[SimplePlugin]
) -> tuple[RunResult, bytes]:
    """Run on a worker set up by an environment; return the result, and every byte of every history of the run."""
    settings = WorkerSettings.from_environment(
        {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": server.url.replace("http://", f"http://{USER}:{PASSWORD}@"),
            "OPENAI_MODEL": "scripted-1",
            "SHOP_TOKEN": TOOL_SECRET,
        }
    )
    kit = ScriptedTools({"a": [play]}).toolkit(("a",))
    model = OpenAIModel(settings)
    activities = Activities.of(kit, model, model.cards, MEMORY, secrets=settings.secrets)
    options = RunOptions(max_replans=0, max_run_retries=0, model_timeout=timedelta(seconds=0.2))
    request = RunInput(goal="buy", toolkit=kit.name, options=options)
    async with build_worker(client, activities, task_queue="secrets", plugins=plugins):
        handle = await client.start_workflow(OrchestratorWorkflow.run, request, id="run-secrets", task_queue="secrets")
        result = await asyncio.wait_for(handle.result(), 60)
    await model.close()
    chain = await fetch_chain(client, handle)
    raw = b"".join(event.SerializeToString() for history in chain for event in history.events)
    return result, raw
