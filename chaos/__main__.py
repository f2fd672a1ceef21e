"""Run chaos rounds: python -m chaos --rounds N --seed S [--mode workers|server|both] [--json FILE]. See --help."""

import asyncio
import json
import logging
import os
import shutil
import statistics
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click

from chaos.killer import Mode
from chaos.round import KEEP_STATE, LOAD_STATE, Round, RoundReport, play
from cli.exit_codes import ExitCode
from cli.home import ARTIFACTS
from cli.process import end, execute, guarded

BOTH = "both"
VIOLATIONS_SHOWN = 20
"""Of one round; the JSON file has all."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", "count", type=click.IntRange(1), default=10, show_default=True, help="Rounds to play.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the plans, the failures and the kills.")
@click.option("--first", type=click.IntRange(0), default=0, help="Number of the first round, to play one again.")
@click.option(
    "--mode",
    type=click.Choice([*(mode.value for mode in Mode), BOTH]),
    default=BOTH,
    show_default=True,
    help="workers: kill workers. server: kill the server on its file as well. both: by turns.",
)
@click.option("--parallel", type=click.IntRange(1), default=1, show_default=True, help="Rounds at once.")
@click.option("--nodes", type=click.IntRange(2, 200), default=40, show_default=True, help="Most nodes of a plan.")
@click.option("--limit", type=click.IntRange(1), default=120, show_default=True, help="Seconds that a run may take.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write what happened to this file.")
def command(
    *, count: int, seed: int, first: int, mode: str, parallel: int, nodes: int, limit: int, json_file: Path | None
) -> ExitCode:
    """Run plans while workers and the server are killed at random moments, and check what is left.

    Exit code 1 when a check finds anything; the ledger, the logs and the database are then kept.
    """
    rounds = [Round.draw(seed, index, _mode_of(mode, index), most_nodes=nodes) for index in range(first, first + count)]
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    reports: list[RoundReport] = []
    os.environ[ARTIFACTS] = str(folder / "artifacts")
    tempfile.tempdir = str(folder)  # this process ends without the exit handlers that would remove files of others
    logging.basicConfig(filename=folder / "chaos.log", format="%(asctime)s %(levelname)s %(name)s %(message)s")
    is_kept = True
    try:
        code = execute(lambda _: _play_all(rounds, folder, reports, parallel=parallel, limit=timedelta(seconds=limit)))
        is_kept = any(report.violations for report in reports)
    finally:
        if json_file:
            json_file.write_text(json.dumps(_as_json(seed, reports), indent=1))
        if is_kept:
            print(f"ledgers, logs and databases are kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(_summary(reports))
    return ExitCode.FAILED if is_kept else code


def _mode_of(mode: str, index: int) -> Mode:
    return list(Mode)[index % len(Mode)] if mode == BOTH else Mode(mode)


async def _play_all(
    rounds: Sequence[Round], folder: Path, reports: list[RoundReport], *, parallel: int, limit: timedelta
) -> ExitCode:
    """Play rounds, so many at once; the first that cannot be played ends all of them, with its own error."""
    waiting = list(reversed(rounds))

    async def lane() -> None:
        while waiting:
            round_ = waiting.pop()
            report = await play(round_, folder / f"round-{round_.index}", limit=limit)
            reports.append(report)
            _tell(report)

    try:
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(parallel, len(rounds))):
                lanes.create_task(lane())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed  # a Refusal is told in one line, a group as an internal error
    return ExitCode.SUCCEEDED


def _tell(report: RoundReport) -> None:
    round_ = report.round
    kills = " ".join(report.strikes_made) or "none"
    statuses = ", ".join(f"{count} {status}" for status, count in report.statuses.items())
    print(
        f"round {round_.index} {round_.mode}: {round_.scenario.nodes} nodes, {round_.scenario.write_percent} % WRITE, "
        f"{round_.runs} runs: {statuses}; {len(report.strikes_made)} of {len(round_.strikes)} kills ({kills}), "
        f"{report.extra_tries} more tries than calls, {report.continued} times continued as new, "
        f"{report.replanned} replans, {report.reused} nodes reused, {report.calls_of(KEEP_STATE)} pages kept and "
        f"{report.calls_of(LOAD_STATE)} times loaded, {report.accepted} messages; "
        f"{report.elapsed_s:.1f} s",
        flush=True,
    )
    for violation in report.violations[:VIOLATIONS_SHOWN]:
        print(f"  VIOLATION {violation}", flush=True)
    if len(report.violations) > VIOLATIONS_SHOWN:
        print(f"  and {len(report.violations) - VIOLATIONS_SHOWN} more violations, all in the --json file", flush=True)


def _summary(reports: Sequence[RoundReport]) -> str:
    lines = []
    for mode in Mode:
        of_mode = [report for report in reports if report.round.mode is mode]
        if of_mode:
            numbers = _numbers(of_mode)
            lines.append(f"{mode}: " + ", ".join(f"{name} {value}" for name, value in numbers.items()))
    return "\n".join(lines) or "no round was played to its end"


def _numbers(reports: Sequence[RoundReport]) -> dict[str, object]:
    return {
        "rounds": len(reports),
        "violations": sum(len(report.violations) for report in reports),
        "runs": sum(len(report.runs) for report in reports),
        "statuses": dict(sum((report.statuses for report in reports), Counter[str]())),
        "kills": dict(Counter(str(target) for report in reports for target in report.strikes_made)),
        "extra_tries": sum(report.extra_tries for report in reports),
        "continued": sum(report.continued for report in reports),
        "replanned": sum(report.replanned for report in reports),
        "reused": sum(report.reused for report in reports),
        "messages": sum(report.accepted for report in reports),
        "rounds_with_keep_state": sum(report.calls_of(KEEP_STATE) > 0 for report in reports),
        "rounds_with_load_state": sum(report.calls_of(LOAD_STATE) > 0 for report in reports),
        "median_round_s": round(statistics.median(report.elapsed_s for report in reports), 1),
        "seconds": round(sum(report.elapsed_s for report in reports), 1),
    }


def _as_json(seed: int, reports: Sequence[RoundReport]) -> dict[str, object]:
    by_mode = {mode: [report for report in reports if report.round.mode is mode] for mode in Mode}
    return {
        "seed": seed,
        "summary": {mode: _numbers(of_mode) for mode, of_mode in by_mode.items() if of_mode},
        "rounds": [
            {
                "index": report.round.index,
                "mode": report.round.mode,
                "nodes": report.round.scenario.nodes,
                "write_percent": report.round.scenario.write_percent,
                "statuses": dict(report.statuses),
                "kills": list(report.strikes_made),
                "kills_drawn": len(report.round.strikes),
                "extra_tries": report.extra_tries,
                "suggest_after": report.round.suggest_after,
                "continued": report.continued,
                "replanned": report.replanned,
                "reused": report.reused,
                "messages": report.accepted,
                "keep_state": report.calls_of(KEEP_STATE),
                "load_state": report.calls_of(LOAD_STATE),
                "seconds": round(report.elapsed_s, 2),
                "violations": [str(violation) for violation in report.violations],
            }
            for report in sorted(reports, key=lambda report: report.round.index)
        ],
    }


if __name__ == "__main__":
    end(guarded(lambda: command.main(prog_name="python -m chaos", standalone_mode=False)))
