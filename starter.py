"""Start a run, follow it, look at it, steer it. See `starter.py --help`."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from cli.exit_codes import Refusal
from cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

    from temporalio.client import Client


GRACEFUL_STOP = timedelta(seconds=0.5)
"""The worker ends with the command, when its only run has ended: there is no other work to wait for."""


@asynccontextmanager
async def worker_in_this_process(
    client: "Client", queue: str, driven: str | None, *, mcp: "Path | None" = None
) -> AsyncIterator[None]:
    """Run a worker of one task queue beside the command line; it drives the runs of another one, if that is named."""
    # Heavy, and most commands need no worker.
    from activities.artifact_place import StoreError
    from activities.settings import SettingsError
    from activities.toolkit import ToolkitError
    from cli.import_place import with_place
    from worker import serve
    from workflows.task_queue import toolkit_of

    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(
                serve(
                    client,
                    {queue: toolkit_of(queue)},
                    driving=[driven] if driven else [],
                    graceful_stop=GRACEFUL_STOP,
                    mcp=mcp,
                )
            )
        except (ToolkitError, SettingsError, StoreError) as error:
            raise Refusal(f"The worker cannot start: {with_place(error)}") from error
        yield


if __name__ == "__main__":
    run(worker_in_this_process)
