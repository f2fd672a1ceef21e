"""The server of the benchmark: the real dev server, tuned as the embedded one, on a new file and free ports."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from temporalio.service import RPCError

from activities.artifact_place import ARTIFACTS
from bench.failure import BenchFailure
from cli.connection import connect
from cli.dev_server import ServerAddress
from cli.exit_codes import Refusal
from cli.home import SETTING
from cli.server_process import ServerProcess, ServerRecord, free_port
from cli.temporal_binary import find_binary

START_LIMIT_S = 60
_POLL_S = 0.1


@asynccontextmanager
async def server() -> AsyncIterator[ServerRecord]:
    """Run a server while the body runs; whatever ends the body ends the server."""
    with TemporaryDirectory(prefix="whippletree-bench-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        # Worker processes inherit it: nothing of the benchmark enters the artifacts of the state directory.
        os.environ[SETTING] = folder
        os.environ.pop(ARTIFACTS, None)
        process = ServerProcess(home)
        record = process.spawn(await find_binary(home), (free_port(), free_port()))
        try:
            await _wait_until_ready(process, record)
            yield record
        finally:
            process.kill(record)
            await process.wait_for_end()


async def _wait_until_ready(process: ServerProcess, record: ServerRecord) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.has_ended:
            raise BenchFailure(f"the Temporal server ended while starting: {process.last_words()}")
        try:
            await connect(ServerAddress(target=record.target))
        except (Refusal, RPCError):
            await asyncio.sleep(_POLL_S)
        else:
            return
    raise BenchFailure(f"the Temporal server did not answer within {START_LIMIT_S} s: {process.last_words()}")
