"""LangGraph: a graph of no-op nodes in a row, each step kept by its SQLite checkpointer. There is no Temporal in it."""

import os
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

from bench import work
from bench.measure import Record

NAME = "langgraph"
NOTE = "in this process, no server: SQLite file checkpointer, durability=sync; bytes are those of its file"


class State(TypedDict):
    """What goes from node to node."""

    x: int


def is_installed() -> bool:
    """Return whether LangGraph and its SQLite checkpointer can be imported."""
    return find_spec("langgraph") is not None and find_spec("langgraph.checkpoint.sqlite") is not None


async def measure(calls: int, repeat: int) -> Record:
    """Run a graph of so many nodes."""
    with TemporaryDirectory(prefix="whippletree-bench-") as folder:
        files = [Path(folder) / f"{number}.db" for number in range(repeat)]
        seconds = median([await _seconds(calls, str(file)) for file in files])
        size = os.path.getsize(files[-1])  # noqa: ASYNC240, PTH202 - nothing else runs
    return {
        "peer": NAME,
        "calls": calls,
        "seconds": round(seconds, 4),
        "ms_per_call": round(1000 * seconds / calls, 2),
        "bytes_per_call": round(size / calls),
        "note": NOTE,
    }


async def _seconds(calls: int, file: str) -> float:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # noqa: PLC0415 - optional

    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph = _graph(calls).compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": calls + 10}
        began = time.perf_counter()
        await graph.ainvoke({"x": 0}, config, durability="sync")
        return time.perf_counter() - began


def _graph(calls: int) -> Any:  # noqa: ANN401 - its class is generic in four ways
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415 - optional

    async def node(state: State) -> State:
        return {"x": await work.step(state["x"])}

    builder = StateGraph(State)
    names = [START, *(f"n{number}" for number in range(calls)), END]
    for name in names[1:-1]:
        builder.add_node(name, node)
    for before, after in pairwise(names):
        builder.add_edge(before, after)
    return builder
