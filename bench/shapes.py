"""The work to measure, as graphs of no-op calls. A graph has a name that says all: `wide:1000`, `random:7`.

A graph of n nodes has its report among the n. Vertices come after what they depend on.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import isqrt
from typing import Any

REPORT = "report"
FAN_OUT = 20
"""Consumers of one result."""
START = 7
"""What a chain and a row of diamonds pass on: not zero, which may also stand for a value that was lost."""
RANDOM_NODES = 50
SHORTEST_MS, LONGEST_MS = 50, 500
MOST_DEPS = 3
NEAR = 8
"""A vertex of a random graph depends on vertices at most this far before it, so that paths get long."""


@dataclass(frozen=True)
class Vertex:
    """One call."""

    id: str
    tool: str
    fixed: dict[str, int] = field(default_factory=dict)
    """Arguments that are known beforehand."""
    inputs: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    """Arguments that are the result of another vertex, or a list of results."""
    after: tuple[str, ...] = ()
    """Vertices that must be done first though no argument comes from them."""

    @property
    def deps(self) -> tuple[str, ...]:
        """Return every vertex that must be done first, each once."""
        sources = (source if isinstance(source, tuple) else (source,) for source in self.inputs.values())
        return tuple(dict.fromkeys((*(one for source in sources for one in source), *self.after)))

    def arguments(self, results: Mapping[str, Any]) -> list[Any]:
        """Return what the call is given, from the results of the vertices before it; each call has its own types."""
        bound = [
            [results[one] for one in source] if isinstance(source, tuple) else results[source]
            for source in self.inputs.values()
        ]
        return [*self.fixed.values(), *bound]


Graph = tuple[Vertex, ...]


@cache
def graph(name: str) -> Graph:
    """Return the graph of a name: `wide|deep|diamond:NODES`, `fan_out:BYTES` or `random:SEED`."""
    shape, _, number = name.partition(":")
    return SHAPES[shape](int(number))


def calls_of(name: str) -> int:
    """Return the number in the name of a graph."""
    return int(name.partition(":")[2])


def wide(nodes: int) -> Graph:
    """Return independent steps and a report on all of them."""
    steps = [Vertex(f"n{i}", "step", {"x": i}) for i in range(nodes - 1)]
    return (*steps, _report(*(step.id for step in steps)))


def deep(nodes: int) -> Graph:
    """Return a chain in which each step takes the result of the one before."""
    first = Vertex("n0", "step", {"x": START})
    rest = [Vertex(f"n{i}", "step", inputs={"x": f"n{i - 1}"}) for i in range(1, nodes - 1)]
    return (first, *rest, _report(f"n{nodes - 2}"))


def diamond(nodes: int) -> Graph:
    """Return a row of diamonds: layers as wide as the root of the number of nodes, each brought together by one."""
    width, vertices, join = isqrt(nodes), [Vertex("n0", "step", {"x": START})], "n0"
    while len(vertices) < nodes - 1:
        first, room = len(vertices), nodes - 1 - len(vertices)
        layer = [f"n{first + i}" for i in range(min(width, max(1, room - 1)))]
        vertices += [Vertex(name, "step", inputs={"x": join}) for name in layer]
        if room == 1:
            return (*vertices, _report(layer[0]))
        join = f"n{first + len(layer)}"
        vertices.append(Vertex(join, "total", inputs={"xs": tuple(layer)}))
    return (*vertices, _report(join))


def fan_out(size: int) -> Graph:
    """Return one result of so many bytes, measured by 20 nodes."""
    blob = Vertex("blob", "blob", {"size": size})
    readers = [Vertex(f"n{i}", "measure", inputs={"text": "blob"}) for i in range(FAN_OUT)]
    return (blob, *readers, _report(*(reader.id for reader in readers)))


def random_dag(seed: int) -> Graph:
    """Return naps of random length and order, with a report on those that nothing else waits for."""
    dice = random.Random(seed)
    naps: list[Vertex] = []
    for i in range(RANDOM_NODES - 1):
        near = range(max(0, i - NEAR), i)
        deps = sorted(dice.sample(near, dice.randint(0, min(MOST_DEPS, len(near)))))
        ms = dice.randint(SHORTEST_MS, LONGEST_MS)
        naps.append(Vertex(f"n{i}", "nap", {"ms": ms}, after=tuple(f"n{dep}" for dep in deps)))
    waited_for = {dep for nap in naps for dep in nap.deps}
    return (*naps, _report(*(nap.id for nap in naps if nap.id not in waited_for)))


SHAPES: dict[str, Callable[[int], Graph]] = {
    "wide": wide,
    "deep": deep,
    "diamond": diamond,
    "fan_out": fan_out,
    "random": random_dag,
}


def critical_path_s(vertices: Graph) -> float:
    """Return the sum of the naps on the longest path."""
    ends: dict[str, int] = {}
    for vertex in vertices:
        ends[vertex.id] = max((ends[dep] for dep in vertex.deps), default=0) + vertex.fixed.get("ms", 0)
    return max(ends.values()) / 1000


def _report(*sources: str) -> Vertex:
    return Vertex(REPORT, "report", inputs={"sources": sources})
