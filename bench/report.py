"""What was measured, as tables for people."""

from collections.abc import Callable, Collection
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.measure import Record
from bench.scaling import LARGE_FROM
from bench.summary import PROMISES, Figures, Promise, error_of

_WHOLE = 1000
"""From here on digits after the point say nothing."""
ONCE_MARK = "*"
"""Stands by whatever comes from a single run of a large graph."""


def print_report(results: Record, figures: Figures) -> None:
    """Print a table for each part that was measured, and the promises at the end."""
    console = Console(width=None if Console().is_terminal else 205)
    console.print(_machine(results["machine"]))
    parts: dict[str, Callable[[Any], Table]] = {
        "scaling": _scaling,
        "latency": _latency,
        "fan_out": _fan_out,
        "makespan": _makespan,
        "throughput": _throughput,
        "aging": _aging,
        "startup": _startup,
        "peers": _peers,
    }
    for name, table in parts.items():
        if name in results:
            console.print(table(results[name]))
    cases: list[Record] = results.get("scaling", [])
    is_once = any(map(_is_once, cases))
    console.print(_promises(figures, marked={"time_10000_over_1000"} if is_once else set()))
    if is_once:
        console.print(f"{ONCE_MARK} Run once: a time without a spread. --repeat-large N runs it N times.")
    for case in cases:
        if "raw_left_out" in case:
            console.print(f"{case['shape']}, {case['nodes']:,} nodes: {case['raw_left_out']}.")


def _machine(record: Record) -> str:
    packages = ", ".join(f"{name} {found}" for name, found in record["packages"].items())
    hardware = f"{record['cores']} cores, {record['memory_gib']} GiB, Python {record['python']}"
    text = f"{hardware}, {record['server']}; {packages}"
    if record["load_before"] < record["cores"] / 4:
        return text
    return f"{text}\nThe machine was busy before (load {record['load_before']:.1f}): times are noise, ratios are rough."


def _scaling(cases: list[Record]) -> Table:
    table = _table(
        "Plans: Whippletree with everything on, against the raw workflow",
        *(
            "shape",
            "nodes",
            "raw s",
            "ours s",
            "ours/raw",
            "ours/bare",
            "ours nodes/s",
            "raw cpu ms/node",
            "ours cpu ms/node",
            "raw ev/node",
            "ours ev/node",
        ),
        *("raw B/node", "ours B/node", "store B/node", "raw MiB", "ours MiB", "runs", "largest run"),
    )
    for case in cases:
        nodes = f"{case['nodes']:,}{ONCE_MARK if _is_once(case) else ''}"
        table.add_row(case["shape"], nodes, *_case(case))
    return table


def _case(case: Record) -> list[str]:
    if "ours" not in case:
        return ["-", "-", case.get("left_out", "")]
    ours, raw = case["ours"], case.get("raw", {})
    history, ratios = ours["history"], [_ratio(ours, case.get(name)) for name in ("raw", "raw_bare")]
    cpu, events, size, memory = (
        [_shown(side.get(name)) for side in (raw, ours)]
        for name in ("worker_cpu_ms_per_node", "events_per_node", "bytes_per_node", "peak_rss_mb")
    )
    return [
        *(_shown(raw.get("seconds")), _shown(ours["seconds"]), *ratios, _shown(ours["nodes_per_s"])),
        *(*cpu, *events, *size, _shown(ours["store_bytes_per_node"]), *memory),
        str(history["runs"]),
        f"{history['largest_run_events']:,} ev, {history['largest_run_bytes'] / 1e6:.2f} MB",
    ]


def _ratio(ours: Record, raw: Record | None) -> str:
    return f"{ours['seconds'] / raw['seconds']:.2f}" if raw else "-"


def _is_once(case: Record) -> bool:
    return bool(case["nodes"] >= LARGE_FROM and case["repeat"] == 1)


def _latency(record: Record) -> Table:
    table = _table(f"Latency of a tiny run ({record['graph']}, catalog and plan included)", "", "median ms", "p95 ms")
    for name in ("raw", "ours"):
        table.add_row(name, _shown(record[name]["median_ms"]), _shown(record[name]["p95_ms"]))
    table.add_row("ours/raw", f"{record['ours_over_raw']:.2f}", "")
    return table


def _fan_out(record: Record) -> Table:
    table = _table(
        "A 300 KB result taken by 20 nodes: bytes of history", "", "with 10 B", "with 300 KB", "added", "in the store"
    )
    keys = ("small_bytes", "large_bytes", "added_bytes", "large_store_bytes")
    for name, figures in record.items():
        table.add_row(name, *(f"{figures[key]:,}" for key in keys))
    return table


def _makespan(record: Record) -> Table:
    table = _table("Random graphs of naps, over the critical path", "", "mean", "max")
    names = {
        "makespan": "ours, execution",
        "run": "ours, whole run",
        "raw_makespan": "raw, execution",
        "raw_run": "raw, whole run",
    }
    for key, name in names.items():
        table.add_row(name, _shown(record[f"{key}_mean"]), _shown(record[f"{key}_max"]))
    return table


def _throughput(records: list[Record]) -> Table:
    cores = ("server_cores", "workers_cores", "client_cores")
    table = _table(
        "Small runs at once", "", "workers", "runs/s", "server cores", "worker cores", "client cores", "limit"
    )
    for record in records:
        figures = [_shown(record[name]) for name in ("runs_per_s", *cores)]
        table.add_row(record["contender"], str(record["workers"]), *figures, record["limit"])
    return table


def _aging(record: Record) -> Table:
    table = _table(
        f"{record['runs']} runs of {record['graph']} on one server and worker",
        *("", "seconds", "worker cpu s", "server cpu s"),
    )
    keys = ("seconds", "worker_cpu_s", "server_cpu_s")
    for name in ("first", "last"):
        table.add_row(f"{name} {record['ends']}", *(_shown(record[name][key]) for key in keys))
    ratios = (record["last"][key] / record["first"][key] for key in keys)
    table.add_row("last/first", *(f"{ratio:.2f}" for ratio in ratios))
    return table


def _startup(record: Record) -> Table:
    table = _table("The command line", "", "seconds")
    rows = {"cold_s": "first report", "start_to_report_s": "report, warm", "help_s": "starter.py --help"}
    for key, name in rows.items():
        table.add_row(name, _shown(record[key]))
    return table


def _peers(records: list[Record]) -> Table:
    table = _table(
        "Peers: no-op calls in a row; calls count model calls too",
        *("peer", "calls", "model calls", "seconds", "ms/call", "ev/call", "B/call", "B/model call", "note"),
    )
    keys = (
        "calls",
        "model_calls",
        "seconds",
        "ms_per_call",
        "events_per_call",
        "bytes_per_call",
        "bytes_per_model_call",
    )
    for record in records:
        table.add_row(record["peer"], *(_shown(record.get(key)) for key in keys), record.get("note", ""))
    return table


def _promises(figures: Figures, *, marked: Collection[str]) -> Table:
    table = _table("Promises", "figure", "measured", "must be", "kept")
    for promise in PROMISES:
        value = figures.get(promise.figure)
        if value is None:
            continue
        sign = "<=" if promise.is_most else ">="
        name = f"{promise.figure}{ONCE_MARK if promise.figure in marked else ''}"
        error = figures.get(error_of(promise.figure))
        measured = _shown(value) if error is None else f"{value:.3f} ± {error:.3f}"
        table.add_row(name, measured, f"{sign} {promise.limit:,}", _verdict(promise, value, error))
    return table


def _verdict(promise: Promise, value: float, error: float | None) -> str:
    verdict = "yes" if promise.is_kept(value) else "NO"
    return verdict if error is None or abs(value - promise.limit) >= error else f"{verdict}, within its error"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or column in {"limit", "note"} else "right")
    return table


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.3g}"
