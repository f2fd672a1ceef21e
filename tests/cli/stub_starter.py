"""The command line as starter.py runs it, with a worker that serves the stub workflows."""

import asyncio
import os
from collections.abc import Callable
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from cli import connection, server_process
from cli.main import run
from tests.cli.stub_loop_workflow import StubLoopWorkflow
from tests.cli.stub_workflow import StubWorkflow


def stub_worker(client: Client, queue: str, driven: str | None) -> Worker:
    return Worker(
        client,
        task_queue=driven or queue,
        workflows=[StubWorkflow, StubLoopWorkflow],
        identity=f"stub of {os.getpid()}",
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )


def stay_off_the_usual_ports(port: int, set_to: Callable[[object, str, object], None] = setattr) -> None:
    """Leave alone whatever runs on this machine."""
    set_to(connection, "DEFAULT_TARGET", f"localhost:{port}")
    set_to(server_process, "PORT", port)
    set_to(server_process, "UI_PORT", server_process.free_port())


def forbid_signal_handlers() -> None:
    """Be an event loop like that of Windows."""

    def refuse(*_: object) -> None:
        raise NotImplementedError

    asyncio.SelectorEventLoop.add_signal_handler = refuse  # type: ignore[method-assign,assignment]
    asyncio.SelectorEventLoop.remove_signal_handler = refuse  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    stay_off_the_usual_ports(int(os.environ["STUB_PORT"]))
    if os.environ.get("STUB_WITHOUT_SIGNAL_HANDLERS"):
        forbid_signal_handlers()
    run(stub_worker)
