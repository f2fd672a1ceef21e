"""The few figures that are promised, out of all that were measured. None stands for what was not measured."""

from collections.abc import Iterable
from dataclasses import dataclass

from bench import aging
from bench.measure import Record
from bench.ratio import standard_error
from bench.scaling import SHAPES

MANY, MOST = 1000, 10_000
Figures = dict[str, float | None]


@dataclass(frozen=True)
class Promise:
    """What a figure must be."""

    figure: str
    limit: float
    is_most: bool = True
    """False when the figure must be at least the limit."""

    def is_kept(self, value: float) -> bool:
        """Return whether a figure keeps the promise."""
        return value <= self.limit if self.is_most else value >= self.limit


PROMISES = (
    Promise("wide_1000_vs_raw", 1.05),
    Promise("deep_1000_vs_raw", 1.05),
    Promise("diamond_1000_vs_raw", 1.05),
    Promise("time_10000_over_1000", 11),
    Promise("events_over_raw", 100),
    Promise("bytes_vs_raw", 1.5),
    Promise("bytes_per_node_10000_over_1000", 1.1),
    Promise("fanout_300kb_20_bytes", 20_000),
    Promise("makespan_over_critical_path", 1.15),
    Promise("runs_per_s_2_over_1_workers", 1.5, is_most=False),
    Promise("aged_over_new", 1.5),
    Promise("start_to_report_s", 3),
    Promise("help_s", 0.4),
    Promise("largest_run_events", 12_000),
    Promise("largest_run_bytes", 10_000_000),
)


def error_of(figure: str) -> str:
    """Return the name of the figure that tells the standard error of another."""
    return f"{figure}_standard_error"


def summary_of(results: Record) -> Figures:
    """Return every figure that is promised, and those that belong to them."""
    cases: list[Record] = [case for case in results.get("scaling", []) if "ours" in case]
    at = {(case["shape"], case["nodes"]): case for case in cases}
    shapes = dict.fromkeys(case["shape"] for case in cases)
    many = [at[shape, MANY] for shape in shapes if (shape, MANY) in at]
    both = [
        (at[shape, MOST]["ours"], at[shape, MANY]["ours"])
        for shape in shapes
        if {(shape, MOST), (shape, MANY)} <= at.keys()
    ]
    return {
        **{f"{shape}_1000_vs_raw": _time_ratio(at.get((shape, MANY))) for shape in SHAPES},
        **{error_of(f"{shape}_1000_vs_raw"): _time_ratio_error(at.get((shape, MANY))) for shape in SHAPES},
        **{f"{shape}_1000_vs_bare_raw": _time_ratio(at.get((shape, MANY)), "raw_bare") for shape in SHAPES},
        "time_10000_over_1000": _worst(most["seconds"] / less["seconds"] for most, less in both),
        "events_vs_raw": _worst(case["ours"]["history"]["events"] / case["raw"]["history"]["events"] for case in many),
        "events_over_raw": _worst(
            case["ours"]["history"]["events"] - case["raw"]["history"]["events"] for case in many
        ),
        "bytes_vs_raw": _worst(case["ours"]["history"]["bytes"] / case["raw"]["history"]["bytes"] for case in many),
        "bytes_per_node_10000_over_1000": _worst(
            most["bytes_per_node"] / less["bytes_per_node"] for most, less in both
        ),
        "store_bytes_per_node": _worst(case["ours"]["store_bytes_per_node"] for case in many),
        "fanout_300kb_20_bytes": _at(results, "fan_out", "ours", "added_bytes"),
        "makespan_over_critical_path": _at(results, "makespan", "makespan_max"),
        "runs_per_s_2_over_1_workers": _two_over_one(results.get("throughput", [])),
        "aged_over_new": _aged(results.get("aging")),
        "start_to_report_s": _at(results, "startup", "start_to_report_s"),
        "help_s": _at(results, "startup", "help_s"),
        "latency_vs_raw": _at(results, "latency", "ours_over_raw"),
        "largest_run_events": _worst(case["ours"]["history"]["largest_run_events"] for case in cases),
        "largest_run_bytes": _worst(case["ours"]["history"]["largest_run_bytes"] for case in cases),
    }


def _time_ratio(case: Record | None, raw: str = "raw") -> float | None:
    return None if case is None or raw not in case else round(case["ours"]["seconds"] / case[raw]["seconds"], 3)


def _time_ratio_error(case: Record | None) -> float | None:
    if case is None or "raw" not in case:
        return None
    error = standard_error(case["ours"]["all_seconds"], case["raw"]["all_seconds"])
    return None if error is None else round(error, 3)


def _worst(values: Iterable[float]) -> float | None:
    worst = max(values, default=None)
    return None if worst is None else round(worst, 3)


def _at(results: Record, *path: str) -> float | None:
    value = results
    for name in path:
        if name not in value:
            return None
        value = value[name]
    return value  # type: ignore[return-value]


def _aged(record: Record | None) -> float | None:
    """Return None of fewer runs than it takes a server to fall behind."""
    return record["last_over_first"] if record is not None and record["runs"] >= aging.RUNS else None


def _two_over_one(records: Iterable[Record]) -> float | None:
    rates = {record["workers"]: record["runs_per_s"] for record in records if record["contender"] == "ours"}
    return round(rates[2] / rates[1], 3) if {1, 2} <= rates.keys() else None
