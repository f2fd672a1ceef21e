"""The dev server that tests share: the real one, on loopback, on a free port, tuned as the embedded one."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which

from temporalio.converter import DataConverter
from temporalio.testing import WorkflowEnvironment

from cli.server_process import TUNING as EMBEDDED_TUNING
from workflows.data_converter import DATA_CONVERTER

_SPEED = (
    "history.transferProcessorMaxPollRPS",
    "history.timerProcessorMaxPollRPS",
    "history.timerProcessorMaxTimeShift",
    "history.workflowIdReuseMinimalInterval",
)
"""What makes tests fast. The limits stay the usual ones, which the code must obey."""
TUNING = tuple(setting for setting in EMBEDDED_TUNING if setting.partition("=")[0] in _SPEED)


def beside_interpreter(name: str) -> str:
    """Return the path of a program that a package installed into this environment, or that is on PATH."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else which(name)
    if found is None:
        msg = f"{name} is not installed; run make setup"
        raise RuntimeError(msg)
    return found


@asynccontextmanager
async def dev_server(
    *settings: str, data_converter: DataConverter = DATA_CONVERTER
) -> AsyncIterator[WorkflowEnvironment]:
    """Start the real dev server in memory, with more settings than the usual ones."""
    extra = [part for setting in (*TUNING, *settings) for part in ("--dynamic-config-value", setting)]
    environment = await WorkflowEnvironment.start_local(
        data_converter=data_converter,
        dev_server_existing_path=beside_interpreter("temporal"),
        dev_server_extra_args=["--log-level", "error", *extra],
    )
    async with environment:
        yield environment


@asynccontextmanager
async def time_skipping_server() -> AsyncIterator[WorkflowEnvironment]:
    """Start the test server that skips time while a result is awaited."""
    environment = await WorkflowEnvironment.start_time_skipping(
        data_converter=DATA_CONVERTER, test_server_existing_path=beside_interpreter("temporal-test-server")
    )
    async with environment:
        yield environment
