"""The yardstick: a workflow as a careful author would write it by hand on the bare SDK.

Plain JSON, default activity ids, no trace, no budget, no ledger, no planning: the graph is known in the code. What no
careful author leaves out is there: timeouts, a heartbeat timeout, a retry policy, a limit of calls in flight.
"""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from bench.shapes import Vertex, graph


@workflow.defn
class RawWorkflow:
    """Runs a graph: a call starts when what it depends on is done, so many at once."""

    @workflow.run
    async def run(self, name: str, concurrency: int, calls_before: int) -> dict[str, str]:
        """Run a graph after so many single calls; return its report."""
        for _ in range(calls_before):
            await _call("step", [0])
        slots = asyncio.Semaphore(concurrency)
        tasks: dict[str, asyncio.Task[Any]] = {}

        async def run_vertex(vertex: Vertex) -> Any:  # noqa: ANN401 - each call has its own type
            results = {dep: await tasks[dep] for dep in vertex.deps}
            async with slots:
                return await _call(vertex.tool, vertex.arguments(results))

        for vertex in graph(name):
            tasks[vertex.id] = asyncio.create_task(run_vertex(vertex))
        report_text: dict[str, str] = await tasks["report"]
        return report_text


async def _call(name: str, arguments: list[Any]) -> Any:  # noqa: ANN401 - each call has its own type
    return await workflow.execute_activity(
        name,
        args=arguments,
        start_to_close_timeout=timedelta(seconds=10),
        heartbeat_timeout=timedelta(seconds=5),
        retry_policy=RetryPolicy(maximum_attempts=3),
    )
