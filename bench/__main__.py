"""`python -m bench`: measure, print tables, write JSON."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TextIO

import click

from bench import aging, fan_out, latency, makespan, rivals, scaling, startup, throughput
from bench.machine import machine
from bench.measure import Record, Rig
from bench.report import print_report
from bench.server import server
from bench.summary import summary_of
from cli.exit_codes import ExitCode
from cli.home import state_dir
from cli.process import end, execute, guarded
from cli.temporal_binary import find_binary

ON_ONE_SERVER = ("latency", "fan_out", "makespan", "throughput", "peers")
"""They are small enough to share a server."""
PARTS = (*scaling.SHAPES, *ON_ONE_SERVER, "aging", "startup")
QUICK_SIZES = (10, 100)
USUAL_REPEAT = 5
PROMISED_S = 60
"""Seconds that each side runs at least where its ratio to raw is promised.

On two cores that others use, too, the ratio of wide plans had a standard error of 0.09 after five runs each and of
0.03 after a minute, which is twenty. A minute of deep plans is six runs, with one of 0.04: each of them takes ten
seconds, in which much evens out.
"""


@dataclass(frozen=True)
class Scope:
    """What is to be measured."""

    parts: tuple[str, ...]
    sizes: tuple[int, ...]
    repeat: int
    repeat_large: int
    promised_s: int
    is_quick: bool

    @property
    def shapes(self) -> tuple[str, ...]:
        """Return the shapes of plans."""
        return tuple(shape for shape in scaling.SHAPES if shape in self.parts)

    @asynccontextmanager
    async def new_rig(self) -> AsyncIterator[Rig]:
        """Run a new server while the body runs."""
        async with server() as record:
            yield Rig(record.target, record.pid, self.repeat, self.repeat_large, self.promised_s)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "file", type=click.File("w", lazy=False), help="Write all figures to this file.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    help="Runs of which the median counts, and no more."
    f"  [default: {USUAL_REPEAT}, and at 1,000 nodes as many more as {PROMISED_S} s take; quick: 1]",
)
@click.option(
    "--repeat-large", type=click.IntRange(1, 100), default=1, show_default=True, help="Runs of plans of 10,000 nodes."
)
@click.option("--quick", is_flag=True, help="Small sizes, in about a minute.")
@click.option("--only", "parts", type=click.Choice(PARTS), multiple=True, help="Measure this part; can be repeated.")
@click.option("--nodes", type=click.Choice([str(size) for size in scaling.SIZES]), multiple=True, help="Plan sizes.")
def command(
    file: TextIO | None,
    repeat: int | None,
    repeat_large: int,
    parts: tuple[str, ...],
    nodes: tuple[str, ...],
    *,
    quick: bool,
) -> ExitCode:
    """Measure Whippletree against a hand-written Temporal workflow and installed peers, side by side."""
    sizes = tuple(dict.fromkeys(map(int, nodes))) or (QUICK_SIZES if quick else scaling.SIZES)
    promised_s = 0 if repeat or quick else PROMISED_S
    scope = Scope(parts or PARTS, sizes, repeat or (1 if quick else USUAL_REPEAT), repeat_large, promised_s, quick)
    return execute(lambda _: _run(scope, file))


async def _run(scope: Scope, file: TextIO | None) -> ExitCode:
    repeats = {"repeat": scope.repeat, "repeat_large": scope.repeat_large, "promised_s": scope.promised_s}
    results: Record = {"machine": machine(await find_binary(state_dir())), **repeats}
    if scope.shapes:
        results["scaling"] = await scaling.measure(scope.new_rig, scope.shapes, scope.sizes)
    if any(part in scope.parts for part in ON_ONE_SERVER):
        async with scope.new_rig() as rig:
            results |= await _measure(scope, rig)
    if "aging" in scope.parts:
        async with scope.new_rig() as rig:
            results["aging"] = await aging.measure(rig, runs=aging.QUICK_RUNS if scope.is_quick else aging.RUNS)
    if "startup" in scope.parts:
        results["startup"] = await startup.measure(scope.repeat)
    figures = summary_of(results)
    print_report(results, figures)
    if file is not None:
        json.dump({"summary": figures, **results}, file, indent=1)
    return ExitCode.SUCCEEDED


async def _measure(scope: Scope, rig: Rig) -> Record:
    results: Record = {}
    if "latency" in scope.parts:
        results["latency"] = await latency.measure(rig)
    if "fan_out" in scope.parts:
        results["fan_out"] = await fan_out.measure(rig)
    if "makespan" in scope.parts:
        results["makespan"] = await makespan.measure(rig)
    if "throughput" in scope.parts:
        counts, runs = ((1, 2), 20) if scope.is_quick else ((1, 2, 4), 60)
        results["throughput"] = await throughput.measure(rig, counts=counts, runs=runs)
    if "peers" in scope.parts:
        results["peers"] = await rivals.measure(rig, is_quick=scope.is_quick)
    return results


if __name__ == "__main__":
    end(guarded(lambda: command.main(prog_name="python -m bench", standalone_mode=False)))
