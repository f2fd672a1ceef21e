"""Start a run, follow it, look at it, steer it. See `starter.py --help`."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from cli.exit_codes import Refusal
from cli.main import run

if TYPE_CHECKING:
    from temporalio.client import Client


@asynccontextmanager
async def worker_in_this_process(client: "Client", toolkit: str) -> AsyncIterator[None]:
    """Run a worker with one toolkit beside the command line."""
    # Heavy, and most commands need no worker.
    from activities.settings import SettingsError
    from activities.toolkit import ToolkitError
    from worker import serve

    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(serve(client, (toolkit,)))
        except (ToolkitError, SettingsError) as error:
            raise Refusal(f"The worker cannot start: {error}") from error
        yield


if __name__ == "__main__":
    run(worker_in_this_process)
