"""A worker process that dies between an effect and its report, once. Usage: ADDRESS TASK_QUEUE BOOK."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client

from activities.served import Activities
from activities.toolkit import Tool, ToolContext, tool
from harness.catalog import Effect
from harness.errors import ErrorCode, ToolError
from harness.plan import Plan
from tests.builders import literal, node, plan, results_of
from tests.stage import CARDS, MEMORY, ScriptedModel, ScriptedTools
from workflows.data_converter import DATA_CONVERTER
from workflows.workers import build_worker

MISSING = ToolError(ErrorCode.MISSING_INFO, "look elsewhere")


def both(last: str) -> Plan:
    """Return a plan that pays twice, to different people, and then looks for something."""
    pays = [node(f"pay_{name}", "pay", arguments={"name": literal(name)}) for name in ("ann", last)]
    look = node("look", "a", deps=[pay.id for pay in pays])
    report = node("report", "write_report", deps=["look"], arguments={"sources": results_of("look")})
    return plan(*pays, look, report)


def lines(book: Path) -> list[dict[str, str]]:
    """Return what is in the book: a line for each try and each payment, oldest first."""
    return [json.loads(line) for line in book.read_text().splitlines()] if book.exists() else []


def payer(book: Path) -> Tool:
    """Return the tool that pays: once for each key."""

    @tool(effect=Effect.IDEMPOTENT_WRITE, timeout=timedelta(seconds=20))
    def pay(name: str, context: ToolContext) -> str:
        """Pay somebody."""
        key = context.idempotency_key
        has_paid = any(line["what"] == "paid" and line["key"] == key for line in lines(book))
        _write(book, "try", key, name)
        if not has_paid:
            _write(book, "paid", key, name)
            if name == "ann":
                os.kill(os.getpid(), signal.SIGKILL)
        return "paid"

    return pay


def _write(book: Path, what: str, key: str, name: str) -> None:
    with book.open("a") as file:
        file.write(json.dumps({"what": what, "key": key, "name": name}) + "\n")


async def main(address: str, task_queue: str, book: Path) -> None:
    """Serve until the process is killed, by itself or from outside."""
    tools = ScriptedTools({"a": [MISSING, "found"]})
    kit = tools.toolkit(["a"])
    model = ScriptedModel([both("cleo" if lines(book) else "bob")])  # the second worker draws up the second plan
    client = await Client.connect(address, data_converter=DATA_CONVERTER)
    served = Activities.of(replace(kit, tools=(*kit.tools, payer(book))), model, lambda _: CARDS, MEMORY)
    async with build_worker(client, served, task_queue=task_queue):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
