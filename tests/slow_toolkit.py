"""A toolkit for tests of the worker process: one tool that takes a second and writes down what it does."""

import asyncio
import os
from pathlib import Path

from activities.toolkit import Report, Toolkit, tool
from harness.catalog import ToolRole


@tool()
async def take_a_second() -> str:
    """Work for a second."""
    _note("start")
    await asyncio.sleep(1)
    _note("end")
    return "done"


@tool(role=ToolRole.FINAL_SYNTHESIS)
async def tell(sources: list[str]) -> Report:
    """Tell what was done."""
    return Report(report=f"The work is {sources}.")


def _note(what: str) -> None:
    with Path(os.environ["SLOW_LEDGER"]).open("a") as ledger:
        ledger.write(f"{what}\n")


TOOLKIT = Toolkit("slow", (take_a_second, tell))
