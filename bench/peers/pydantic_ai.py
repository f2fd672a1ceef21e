"""pydantic-ai's Temporal durability: an agent whose model asks for one no-op call after the other."""

from importlib.util import find_spec
from typing import Any

from temporalio.client import Client
from temporalio.worker import WorkerConfig

from bench.contenders import Contender, Handle, Job, worker_of
from bench.failure import BenchFailure
from bench.shapes import calls_of

NAME = "pydantic-ai"
MODEL_CALL = "model_request"
"""Part of the activity type of its model calls."""


def contenders() -> tuple[Contender, ...]:
    """Return the contender where it is installed, else nothing."""
    if find_spec("pydantic_ai") is None:
        return ()
    return (Contender(NAME, _connect, _worker, _start, _check),)


async def _connect(target: str) -> Client:
    from pydantic_ai.durable_exec.temporal import PydanticAIPlugin  # noqa: PLC0415 - optional

    return await Client.connect(target, plugins=[PydanticAIPlugin()])


def _worker(client: Client, queue: str) -> WorkerConfig:
    """Return the product's worker with the agent's workflow in it; the plugin adds its activities."""
    from bench.peers.pydantic_ai_agent import AgentWorkflow  # noqa: PLC0415 - optional

    return worker_of(client, queue, AgentWorkflow, ())


async def _start(client: Client, job: Job) -> Handle:
    calls = calls_of(job.graph)
    return await client.start_workflow("AgentWorkflow", calls, id=job.run_id, task_queue=job.queue, result_type=str)


def _check(_: str, result: Any) -> None:  # noqa: ANN401 - whatever came back
    if result != "done":
        raise BenchFailure(f"the agent of pydantic-ai returned {result!r}")
