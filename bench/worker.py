"""A worker process of the benchmark. It serves until its standard input closes, so it never outlives the benchmark.

Usage: python -m bench.worker SPEC, where SPEC is a WorkerSpec as JSON.
"""

import asyncio
import sys

from temporalio.client import Client
from temporalio.service import GrpcCompression
from temporalio.worker import Worker

from activities.loop_watchdog import watched_loop
from bench.contenders import BARE_RAW, OURS, RAW, Contender
from bench.peers.pydantic_ai import contenders as peers
from bench.worker_spec import READY, WorkerSpec
from cli.process import end
from workflows.garbage import tune_process


def contender_of(name: str) -> Contender:
    """Return a contender by its name."""
    return next(one for one in (RAW, BARE_RAW, OURS, *peers()) if one.name == name)


async def serve(spec: WorkerSpec) -> None:
    """Serve until standard input closes."""
    contender = contender_of(spec.contender)
    client = await _connected(contender, spec)
    worker = Worker(**spec.knobs.applied_to(contender.worker(client, spec.queue)))
    with watched_loop():
        async with worker:
            tune_process()  # as the product does, at the same moment, whoever is measured
            print(READY, flush=True)
            await asyncio.to_thread(sys.stdin.read)


def run(spec: WorkerSpec) -> None:
    """Serve in an event loop of the kind that the knobs name."""
    if spec.knobs.has_uvloop:
        import uvloop

        uvloop.run(serve(spec))
    else:
        asyncio.run(serve(spec))


async def _connected(contender: Contender, spec: WorkerSpec) -> Client:
    client = await contender.connect(spec.target)
    if spec.knobs.is_compressed is None:
        return client
    compression = GrpcCompression.GZIP if spec.knobs.is_compressed else GrpcCompression.NONE
    return await Client.connect(spec.target, data_converter=client.data_converter, grpc_compression=compression)


if __name__ == "__main__":
    run(WorkerSpec.model_validate_json(sys.argv[1]))
    end(0)
