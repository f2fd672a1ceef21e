"""A stage for agent loops: real server, real workflow and activities; a model whose steps are scripted."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic import TypeAdapter
from temporalio.client import Client, WorkflowHandle

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails.chain import Guardrails
from activities.model.request import ModelAnswer, ModelCall, ModelError, ModelRequest
from activities.served import Activities
from activities.toolkit import Toolkit
from harness.loop import LoopResult, StepRecord
from harness.loop_carry import LoopInput
from harness.run import RunOptions
from harness.trace import TraceEvent
from tests.sandbox import SANDBOX
from tests.stage import CARDS, MEMORY, OPTIONS, USAGE, Outcome, ScriptedTools
from workflows.agent_loop import AgentLoopWorkflow
from workflows.workers import build_worker

_EVENT = TypeAdapter(TraceEvent)
_ids = itertools.count(1)

Move = str | ModelError | Exception | Sequence[tuple[str, dict[str, Any]]]
"""An answer, an error, or the calls of a step."""
Script = Sequence[Move] | Callable[[int, ModelRequest], Move]
"""Moves in their order, of which the last repeats; or a function of the place, from 0, and the request."""


def call(tool: str, **arguments: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return a step of one call."""
    return [(tool, arguments)]


@dataclass
class ScriptedSteps:
    """Answers requests for steps by script, and requests for a summary by a summary."""

    script: Script
    requests: list[ModelRequest] = field(default_factory=list)
    summaries: list[ModelRequest] = field(default_factory=list)
    delay_s: float = 0.0
    summary_delay_s: float = 0.0

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer the next move."""
        if not request.tools:
            self.summaries.append(request)
            await asyncio.sleep(self.summary_delay_s)
            seen = " FIRST-TOKEN" if "FIRST-TOKEN" in request.user else ""
            return ModelAnswer(f"summary {len(self.summaries)}{seen}", USAGE)
        place = len(self.requests)
        self.requests.append(request)
        await asyncio.sleep(self.delay_s)
        move = self.script(place, request) if callable(self.script) else self.script[min(place, len(self.script) - 1)]
        if isinstance(move, Exception):
            raise move
        if isinstance(move, str):
            return ModelAnswer(move, USAGE, model="scripted-1")
        calls = tuple(
            ModelCall(id=f"c{place}-{number}", name=name, arguments=json.dumps(arguments))
            for number, (name, arguments) in enumerate(move)
        )
        return ModelAnswer("", USAGE, calls=calls)


@dataclass
class LoopStage:
    """A worker with a scripted toolkit on a task queue of its own."""

    client: Client
    model: ScriptedSteps
    tools: ScriptedTools
    task_queue: str

    async def start(
        self, goal: str = "find out", *, run_id: str | None = None, given: dict[str, Any] | None = None, **options: Any
    ) -> WorkflowHandle[AgentLoopWorkflow, LoopResult]:
        """Start a loop; options are those of RunOptions, and `loop` those of LoopOptions; limits are generous."""
        chosen = {"limits": {"max_tokens": 1_000_000, "max_tool_calls": 10_000, "max_cost_usd": 100}} | options
        fields: dict[str, Any] = {"given": given} if given else {}
        request = LoopInput(goal=goal, toolkit="stage", options=RunOptions.model_validate(OPTIONS | chosen), **fields)
        return await self.client.start_workflow(
            AgentLoopWorkflow.run, request, id=run_id or f"loop-{next(_ids)}", task_queue=self.task_queue
        )

    async def run(self, goal: str = "find out", *, within: float = 60, **options: Any) -> LoopResult:
        """Run to the end."""
        handle = await self.start(goal, **options)
        return await asyncio.wait_for(handle.result(), within)


@asynccontextmanager
async def loop_stage(
    client: Client,
    script: Script,
    *,
    outcomes: dict[str, list[Outcome]] | None = None,
    toolkit: Callable[[ScriptedTools], Toolkit] = ScriptedTools.toolkit,
    max_cached_workflows: int = 1000,
    task_queue: str | None = None,
    graceful_stop: timedelta = timedelta(seconds=5),
    store: ArtifactStore = MEMORY,
    guardrails: Guardrails | None = None,
    delay_s: float = 0.0,
) -> AsyncIterator[LoopStage]:
    """Set the stage: a worker serves the scripted model and tools while the body runs."""
    model, tools = ScriptedSteps(script, delay_s=delay_s), ScriptedTools(outcomes or {})
    queue = task_queue or f"loops-{next(_ids)}"
    served = Activities.of(toolkit(tools), model, lambda _: CARDS, store, guardrails=guardrails)
    worker = build_worker(
        client,
        served,
        task_queue=queue,
        max_cached_workflows=max_cached_workflows,
        graceful_stop=graceful_stop,
        workflow_runner=SANDBOX,
    )
    async with worker:
        yield LoopStage(client, model, tools, queue)


async def steps_of(result: LoopResult) -> tuple[StepRecord, ...]:
    """Return the whole history of steps, its pages included."""
    owner = Owner("default", result.run_id)
    pages = [json.loads(await MEMORY.get(owner, page.artifact.digest)) for page in result.step_pages]
    return (*(StepRecord.model_validate(each) for page in pages for each in page), *result.steps)


async def trace_of_loop(result: LoopResult) -> tuple[TraceEvent, ...]:
    """Return the whole trace of a loop, its pages included."""
    owner = Owner("default", result.run_id)
    pages = [json.loads(await MEMORY.get(owner, page.artifact.digest)) for page in result.trace_pages]
    return (*(_EVENT.validate_python(event) for page in pages for event in page), *result.trace)
