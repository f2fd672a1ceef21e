"""No private value in any byte that leaves the worker or is kept: requests, histories, logs, spans, results, audit."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails.audit import AuditLog
from activities.guardrails.chain import Guardrails
from activities.guardrails.placeholders import PLACEHOLDER
from activities.guardrails.vault import Vault
from activities.model.client import OpenAIModel
from activities.model.request import ModelRequest
from activities.prompts import unfenced
from activities.served import Activities
from activities.settings import WorkerSettings
from activities.toolkit import ToolContext
from harness.carry import RunInput
from harness.catalog import ModelRole
from harness.errors import ErrorCode, ToolError
from harness.loop import LoopResult, LoopStatus
from harness.run import RunOptions, RunResult, RunStatus
from tests.activities.guardrails.private_texts import PRIVATE_TEXTS
from tests.replay.histories import fetch_chain
from tests.scripted_model import Answering, Reply, ScriptedServer, Seen, completion
from tests.stage import ScriptedTools, fan_in
from tests.workflows.span_tree import collecting
from workflows.workers import build_worker

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAIL, SSN = "goal.owner@example.net", "457-55-5462"
GOAL = f"write to {MAIL}, whose SSN is {SSN}"
TEXTS = [text for text, _ in PRIVATE_TEXTS]
VALUES = {MAIL, SSN, *(value for _, values in PRIVATE_TEXTS for _, value in values)}


@dataclass
class Kept:
    """What a run has left behind."""

    result: Any
    bytes_of: Mapping[str, bytes]
    report: str
    """With private values put back."""


async def look(context: ToolContext) -> list[str]:
    """Fail at first, then log, ask a model, and return everything: all with private values."""
    if context.try_number == 1:
        raise ToolError(ErrorCode.PROVIDER_UNAVAILABLE, "\n".join(TEXTS))
    context.logger.warning("found %s", TEXTS)
    context.heartbeat(TEXTS[0])
    request = ModelRequest(ModelRole.SYNTHESIS, "Be brief.", "\n".join(TEXTS), 100, timedelta(seconds=5))
    await context.model.ask(request)
    return TEXTS


def quoting_all(asked: Seen) -> Reply:
    """Answer a loop with its goal and all that it was shown of the tool's result."""
    _, user, *_, result = [unfenced(message["content"] or "") for message in asked.body["messages"]]
    return Reply(body=completion("\n".join([user["goal"], *json.loads(result["result"])])))


async def test_a_plan_run_keeps_no_private_value_and_people_read_them_all(
    time_skipping: WorkflowEnvironment, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    replies = Reply(body=completion(fan_in("a").model_dump_json())), Reply(body=completion("Fine."))
    assert len(TEXTS) >= 50

    kept = await _run(time_skipping.client, replies, "OrchestratorWorkflow", tmp_path, caplog)

    assert isinstance(kept.result, RunResult)
    assert kept.result.status is RunStatus.SUCCEEDED, kept.result.error
    assert _found(kept.bytes_of) == {}
    assert _placeholders(kept.bytes_of) == {"history": True, "requests": True, "result": True}
    assert [text for text in TEXTS if repr(text) not in kept.report] == []


async def test_a_loop_keeps_no_private_value_and_people_read_them(
    time_skipping: WorkflowEnvironment, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    call = {"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}}
    replies = (
        Reply(body=completion(None, finish="tool_calls", tool_calls=[call])),
        Reply(body=completion("Fine.")),  # the one that the tool asks for
        quoting_all,
    )

    kept = await _run(time_skipping.client, replies, "AgentLoopWorkflow", tmp_path, caplog)

    assert isinstance(kept.result, LoopResult)
    assert kept.result.status is LoopStatus.COMPLETED, kept.result.error
    assert _found(kept.bytes_of) == {}
    assert _placeholders(kept.bytes_of) == {"history": True, "requests": True, "result": True}
    assert [text for text in (GOAL, *TEXTS) if text not in kept.report] == []


def _placeholders(kept: Mapping[str, bytes]) -> dict[str, bool]:
    """Return whether a placeholder for each value is where it should be, so that there was something to leak."""
    places = ("history", "requests", "result")
    return {
        place: len(set(PLACEHOLDER.findall(kept[place].decode(errors="replace")))) >= len(VALUES) for place in places
    }


def _found(kept: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the private values that stand in what was kept, as they are or as JSON writes them."""
    found = {
        place: [
            value
            for value in sorted(VALUES)
            if any(form.encode() in data for form in {value, json.dumps(value)[1:-1], repr(value)[1:-1]})
        ]
        for place, data in kept.items()
    }
    return {place: values for place, values in found.items() if values}


async def _run(
    client: Client, replies: tuple[Answering, ...], workflow: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> Kept:
    """Run with a goal that the command line has masked."""
    store, run_id = ArtifactStore.open(str(folder / "store")), f"run-private-{workflow}"
    vault, owner = Vault(store), Owner(client.namespace, run_id)
    options = RunOptions(max_replans=0, max_run_retries=0, retry_wait=timedelta(milliseconds=50))
    request = RunInput(goal=await vault.mask(owner, GOAL), toolkit="stage", options=options)
    result_type = RunResult if workflow == "OrchestratorWorkflow" else LoopResult
    async with ScriptedServer(*replies) as server:
        settings = WorkerSettings.from_environment({"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted-1"})
        model = OpenAIModel(settings)
        kit = ScriptedTools({"a": [look]}).toolkit(("a",), max_model_tokens=5000)
        rails = Guardrails(vault, AuditLog(folder / "audit"))
        activities = Activities.of(kit, model, model.cards, store, guardrails=rails)
        with collecting() as collected:
            async with build_worker(client, activities, task_queue=run_id, plugins=collected.plugins):
                handle: Any = await client.start_workflow(
                    workflow, request, id=run_id, task_queue=run_id, result_type=result_type
                )
                result = await asyncio.wait_for(handle.result(), 60)
        await model.close()
    chain = await fetch_chain(client, handle)
    return Kept(
        result,
        {
            "requests": json.dumps([each.body for each in server.requests], ensure_ascii=False).encode(),
            "history": b"".join(event.SerializeToString() for history in chain for event in history.events),
            "logs": "\n".join(f"{record.getMessage()} {record.exc_text}" for record in caplog.records).encode(),
            "spans": "\n".join(span.to_json() for span in collected.spans).encode(),
            "result": result.model_dump_json().encode(),
            "audit": b"".join(file.read_bytes() for file in (folder / "audit").iterdir()),
        },
        await vault.restore(owner, result.report or ""),
    )
