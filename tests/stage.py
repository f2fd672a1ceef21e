"""A stage for workflow tests: real server, real workflow and activities; scripted model and tools."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from time import monotonic
from typing import Any

from pydantic import BaseModel, TypeAdapter
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from activities.artifact_folders import Owner
from activities.artifacts import ArtifactStore
from activities.guardrails.chain import Guardrails
from activities.loop.loop_activities import LoopActivities
from activities.model.cards import ModelCards
from activities.model.request import ModelAnswer, ModelError, ModelRequest
from activities.run_activities import RunActivities
from activities.served import Activities
from activities.state_pages import StateActivities
from activities.tool_call import ToolActivities
from activities.toolkit import Report, Tool, ToolContext, Toolkit, tool
from harness.budget import Extension
from harness.carry import RunInput
from harness.catalog import Effect, ModelCard, ToolRole
from harness.plan import Plan
from harness.run import RunOptions, RunResult
from harness.trace import TraceEvent
from harness.usage import Usage
from tests.builders import node, plan, results_of
from tests.sandbox import SANDBOX
from workflows.orchestrator import OrchestratorWorkflow
from workflows.workers import build_worker

CARD = ModelCard(name="scripted", input_token_usd=Decimal("0.000001"), output_token_usd=Decimal("0.000001"))
CARDS = ModelCards(CARD)
MEMORY = ArtifactStore.open("memory://")
"""Serves workers that live in the process of the test."""
USAGE = Usage(model="scripted", input_tokens=100, output_tokens=50, cost_usd=Decimal("0.00015"))
OPTIONS: dict[str, Any] = {
    "retry_wait": timedelta(milliseconds=50),
    "allow_writes": True,
    "max_tools_shown": 100,
}
"""What the options of a run are unless a test says otherwise; no tool is left out, because plans are scripted."""
_EVENT = TypeAdapter(TraceEvent)
_ids = count(1)

Answer = Plan | str | ModelError | Exception
Outcome = Any
"""A value to return, an exception to raise, or an async function of the ToolContext."""


@dataclass
class ScriptedModel:
    """Answers in the order of its script; the last answer repeats."""

    script: list[Answer]
    requests: list[ModelRequest] = field(default_factory=list)
    hangs: bool = False
    """True to answer nothing, within the time of any test."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer the next entry of the script."""
        answer = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        if self.hangs:
            await asyncio.sleep(60)
        if isinstance(answer, Exception):
            raise answer
        return ModelAnswer(answer.model_dump_json() if isinstance(answer, BaseModel) else answer, USAGE)


@dataclass(frozen=True)
class Call:
    """One try of a tool."""

    tool: str
    node_id: str
    try_number: int
    key: str
    feedback: str
    started: float


@dataclass
class ScriptedTools:
    """Tools whose outcomes are scripted by name; each list is consumed, its last entry repeats."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    ended: dict[str, float] = field(default_factory=dict)

    def count(self, name: str) -> int:
        """Return how many tries a tool has made."""
        return sum(1 for call in self.calls if call.tool == name)

    async def play(self, name: str, context: ToolContext) -> Any:
        """Record the try and give the scripted outcome."""
        entries = self.outcomes.get(name, [name.upper()])
        outcome = entries[min(self.count(name), len(entries) - 1)]
        self.calls.append(
            Call(name, context.node_id, context.try_number, context.idempotency_key, context.feedback, monotonic())
        )
        try:
            if isinstance(outcome, Exception):
                raise outcome
            return await outcome(context) if callable(outcome) else outcome
        finally:
            self.ended[context.node_id] = monotonic()

    def toolkit(self, reads: Iterable[str] = ("a", "b", "c", "d"), **policy: Any) -> Toolkit:
        """Return a toolkit of these DATA tools without arguments, `write` (a WRITE) and `write_report(sources)`."""
        return Toolkit("stage", (*(self._read(name, **policy) for name in reads), self._write(), self._report()))

    def _read(self, name: str, **policy: Any) -> Tool:
        async def read(context: ToolContext) -> Any:
            return await self.play(name, context)

        return _named(read, name, role=ToolRole.DATA, **policy)

    def _write(self) -> Tool:
        async def write(context: ToolContext) -> Any:
            return await self.play("write", context)

        return _named(write, "write", role=ToolRole.DATA, effect=Effect.WRITE)

    def _report(self) -> Tool:
        async def write_report(sources: list[Any], context: ToolContext) -> Report:
            played = await self.play("write_report", context)
            return played if isinstance(played, Report) else Report(report=f"{played} from {sources}")

        return _named(write_report, "write_report", role=ToolRole.FINAL_SYNTHESIS)


def _named(function: Callable[..., Awaitable[Any]], name: str, **policy: Any) -> Tool:
    function.__name__ = name
    function.__doc__ = f"Scripted tool {name}."
    return tool(**policy)(function)


def patient(tools: ScriptedTools) -> Toolkit:
    """Return the stage's toolkit with a minute for each try of a tool."""
    return tools.toolkit(timeout=timedelta(seconds=60))


def fan_in(*tools: str, deps: dict[str, tuple[str, ...]] | None = None) -> Plan:
    """Return a plan with one node a tool, named `n_<tool>`, and a report on all of them."""
    ids = [f"n_{name}" for name in tools]
    order = deps or {}
    nodes = [node(f"n_{name}", name, deps=[f"n_{dep}" for dep in order.get(name, ())]) for name in tools]
    return plan(*nodes, node("report", "write_report", deps=ids, arguments={"sources": results_of(*ids)}))


@dataclass
class Stage:
    """A worker with a scripted toolkit on a task queue of its own."""

    client: Client
    model: ScriptedModel
    tools: ScriptedTools
    task_queue: str
    served: dict[str, Tool]
    """The tools of the worker by name; taking one out is a deployment that removed it."""

    async def start(
        self, goal: str = "find out", *, run_id: str | None = None, **options: Any
    ) -> WorkflowHandle[OrchestratorWorkflow, RunResult]:
        """Start a run; options are those of RunOptions, waits shortened, writes allowed, all tools shown."""
        request = RunInput(goal=goal, toolkit="stage", options=RunOptions.model_validate(OPTIONS | options))
        return await self.client.start_workflow(
            OrchestratorWorkflow.run, request, id=run_id or f"run-{next(_ids)}", task_queue=self.task_queue
        )

    async def run(self, goal: str = "find out", *, within: float = 30, **options: Any) -> RunResult:
        """Run to the end."""
        handle = await self.start(goal, **options)
        return await asyncio.wait_for(handle.result(), within)


@asynccontextmanager
async def stage(
    client: Client,
    *script: Answer,
    outcomes: dict[str, list[Outcome]] | None = None,
    toolkit: Callable[[ScriptedTools], Toolkit] = ScriptedTools.toolkit,
    max_cached_workflows: int = 1000,
    task_queue: str | None = None,
    graceful_stop: timedelta = timedelta(seconds=5),
    store: ArtifactStore = MEMORY,
) -> AsyncIterator[Stage]:
    """Set the stage: a worker serves the scripted model and tools while the body runs."""
    model, tools = ScriptedModel(list(script)), ScriptedTools(outcomes or {})
    task_queue = task_queue or f"stage-{next(_ids)}"
    kit = toolkit(tools)
    served = kit.by_name()
    worker = build_worker(
        client,
        Activities(
            RunActivities({kit.name: kit}, model, lambda _: CARDS, store),
            ToolActivities(served, model, store),
            StateActivities(store),
            LoopActivities(model, store, guardrails=Guardrails.of(store)),
        ),
        task_queue=task_queue,
        max_cached_workflows=max_cached_workflows,
        graceful_stop=graceful_stop,
        workflow_runner=SANDBOX,
    )
    async with worker:
        yield Stage(client, model, tools, task_queue, served)


def kinds(result: RunResult, *names: str) -> list[str]:
    """Return the trace as kinds, only those named when any is."""
    return [event.kind for event in result.trace if not names or event.kind in names]


async def trace_of(result: RunResult) -> tuple[TraceEvent, ...]:
    """Return the whole trace of a run, its pages included."""
    owner = Owner("default", result.run_id)
    pages = [json.loads(await MEMORY.get(owner, page.artifact.digest)) for page in result.trace_pages]
    return (*(_EVENT.validate_python(event) for page in pages for event in page), *result.trace)


async def extend_twice(handle: WorkflowHandle[Any, Any], more: Extension) -> None:
    """Send an extension until it was answered twice, as a client does that is not sure; its id makes that safe."""
    answers = 0
    while answers < 2:
        try:
            await asyncio.wait_for(handle.execute_update(OrchestratorWorkflow.extend, more), 10)
            answers += 1
        except RPCError as error:  # The workflow run closed in between; the next one of the chain takes it.
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            if (await handle.describe()).status is not WorkflowExecutionStatus.RUNNING:
                raise
