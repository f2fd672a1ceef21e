"""`python -m bench.knobs`: the effect of each worker setting, one at a time, against the product's own settings."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from statistics import median
from typing import TextIO

import click
from rich.console import Console
from rich.table import Table

from bench.contenders import OURS, RAW, Contender
from bench.measure import Record, Rig, Team, in_turn, say, warm_up
from bench.server import server
from bench.throughput import SMALL, batch
from bench.worker_spec import Knobs
from cli.exit_codes import ExitCode
from cli.process import end, execute, guarded

KNOBS: dict[str, Knobs] = {
    "same again": Knobs(),
    "activity pollers 5": Knobs(activity_pollers=5),
    "activity pollers 10": Knobs(activity_pollers=10),
    "activity pollers 20": Knobs(activity_pollers=20),
    "workflow pollers 2": Knobs(workflow_pollers=2),
    "workflow pollers 10": Knobs(workflow_pollers=10),
    "workflow pollers 20": Knobs(workflow_pollers=20),
    "cached workflows 0": Knobs(cached_workflows=0),
    "eager activities off": Knobs(is_eager=False),
    "eager calls 20": Knobs(is_eager=True, eager_reservations=20),
    "eager calls 50": Knobs(is_eager=True, eager_reservations=50),
    "sandbox: pass through all": Knobs(sandbox="pass through all"),
    "sandbox: full": Knobs(sandbox="full"),
    "compression off": Knobs(is_compressed=False),
    "uvloop": Knobs(has_uvloop=True),
}
"""`same again` changes nothing: its distance from 1.00 is the noise."""
GRAPHS = ("wide:1000", "deep:100")
QUICK_GRAPHS = ("wide:100", "deep:10")
MANY = "small runs"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "file", type=click.File("w", lazy=False), help="Write all figures to this file.")
@click.option("--repeat", type=click.IntRange(1, 100), default=3, show_default=True, help="Runs of each side.")
@click.option("--only", "names", type=click.Choice(tuple(KNOBS)), multiple=True, help="This setting; can be repeated.")
@click.option("--raw", "is_raw", is_flag=True, help="Measure the raw workflow instead of Whippletree.")
@click.option("--quick", "is_quick", is_flag=True, help="Small graphs.")
def command(file: TextIO | None, repeat: int, names: tuple[str, ...], *, is_raw: bool, is_quick: bool) -> ExitCode:
    """Measure what each worker setting does, as the time with it over the time without."""
    chosen = names or tuple(name for name in KNOBS if name != "uvloop" or find_spec("uvloop"))
    graphs, contender = QUICK_GRAPHS if is_quick else GRAPHS, RAW if is_raw else OURS

    async def run() -> ExitCode:
        async with server() as record:
            rig = Rig(record.target, record.pid, repeat)
            rows = [await _measure(rig, contender, name, graphs) for name in chosen]
        _print(rows, (*graphs, MANY))
        if file is not None:
            json.dump(rows, file, indent=1)
        return ExitCode.SUCCEEDED

    return execute(lambda _: run())


async def _measure(rig: Rig, contender: Contender, name: str, graphs: Sequence[str]) -> Record:
    """Return the ratio of times for each load, the two sides taking turns."""
    say(f"{name} ...")
    row: Record = {"knob": name, "contender": contender.name}
    async with rig.team(contender) as plain, rig.team(contender, knobs=KNOBS[name]) as changed:
        await warm_up([plain, changed])
        for graph in graphs:
            without, with_it = await in_turn([plain, changed], graph, repeat=rig.repeat)
            row[graph] = round(with_it.median_s / without.median_s, 3)
        rates = [[await _rate(rig, team) for team in (plain, changed)] for _ in range(rig.repeat)]
        row[MANY] = round(median(pair[0] for pair in rates) / median(pair[1] for pair in rates), 3)
    return row


async def _rate(rig: Rig, team: Team) -> float:
    rate: float = (await batch(team, rig.server_pid, 40))["runs_per_s"]
    return rate


def _print(rows: list[Record], loads: Sequence[str]) -> None:
    table = Table(title="Time with the setting over time without; below 1 is faster", title_justify="left")
    table.add_column("setting")
    for load in loads:
        table.add_column(load if load != MANY else f"{MANY} ({SMALL})", justify="right")
    for row in rows:
        table.add_row(row["knob"], *(f"{row[load]:.2f}" for load in loads))
    Console(width=None if Console().is_terminal else 120).print(table)


if __name__ == "__main__":
    end(guarded(lambda: command.main(prog_name="python -m bench.knobs", standalone_mode=False)))
