import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.process import ROOT
from bench.report import print_report
from bench.summary import PROMISES, summary_of

PROMISED = {
    "wide_1000_vs_raw",
    "deep_1000_vs_raw",
    "diamond_1000_vs_raw",
    "time_10000_over_1000",
    "events_over_raw",
    "bytes_vs_raw",
    "bytes_per_node_10000_over_1000",
    "fanout_300kb_20_bytes",
    "makespan_over_critical_path",
    "runs_per_s_2_over_1_workers",
    "start_to_report_s",
    "aged_over_new",
}
ERROR = 0.09601
MACHINE = {"cores": 4, "memory_gib": 8, "python": "3.11", "server": "dev", "packages": {}, "load_before": 0.0}


@pytest.mark.slow
def test_measures_a_small_plan_beside_the_raw_workflow(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"

    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--only", "wide", "--nodes", "10", "--json", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    results = json.loads(file.read_text())
    (case,) = results["scaling"]
    assert results["summary"].keys() >= PROMISED
    assert case["ours"]["seconds"] / case["raw"]["seconds"] > 0
    # Which side has more depends on how many results a workflow task happens to bring.
    assert min(case[side]["history"]["events"] for side in ("ours", "raw")) >= 3 * 10
    assert case["ours"]["parts"]["draft_plan"]["events"] == 3
    assert case["ours"]["store"]["bytes"] == 10 * case["ours"]["store_bytes_per_node"]
    assert case["raw"]["store"] == {"objects": 0, "bytes": 0}
    assert "store" in done.stdout
    assert results["machine"]["cores"] > 0


def test_refuses_a_part_that_does_not_exist() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "narrow"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "narrow" in done.stderr


def test_refuses_a_file_that_cannot_be_written_before_it_measures_for_half_an_hour() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "wide", "--json", "/nonexistent/bench.json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )

    assert done.returncode == 2
    assert "/nonexistent/bench.json" in done.stderr


def test_names_every_promised_figure_when_nothing_was_measured() -> None:
    summary = summary_of({})

    assert summary.keys() >= PROMISED | {promise.figure for promise in PROMISES}
    assert set(summary.values()) == {None}


def test_sums_up_the_worst_shape() -> None:
    summary = summary_of(
        {
            "scaling": [
                _case("wide", 1000, ours=(1.1, 3000, 400_000), raw=(1.0, 3000, 400_000)),
                _case("deep", 1000, ours=(2.0, 6600, 900_000), raw=(2.0, 6000, 600_000)),
                _case("wide", 10_000, ours=(12.1, 31_000, 4_800_000), raw=(10.0, 30_000, 4_000_000)),
                _case("deep", 10_000, ours=(21.0, 61_000, 9_000_000), raw=None),
            ],
            "throughput": [
                {"contender": "ours", "workers": 1, "runs_per_s": 10.0},
                {"contender": "raw", "workers": 2, "runs_per_s": 99.0},
                {"contender": "ours", "workers": 2, "runs_per_s": 16.0},
            ],
        }
    )

    assert summary["wide_1000_vs_raw"] == pytest.approx(1.1)
    assert summary["deep_1000_vs_raw"] == pytest.approx(1.0)
    assert summary["diamond_1000_vs_raw"] is None
    assert summary["events_vs_raw"] == pytest.approx(1.1)
    assert summary["events_over_raw"] == 600
    assert summary["store_bytes_per_node"] == pytest.approx(40.0)
    assert summary["wide_1000_vs_bare_raw"] is None
    assert summary["bytes_vs_raw"] == pytest.approx(1.5)
    assert summary["time_10000_over_1000"] == pytest.approx(11.0)
    assert summary["bytes_per_node_10000_over_1000"] == pytest.approx(1.2)
    assert summary["runs_per_s_2_over_1_workers"] == pytest.approx(1.6)


def test_sets_the_raw_workflow_without_calls_before_its_graph_beside_the_other() -> None:
    case = _case("deep", 1000, ours=(2.0, 6600, 900_000), raw=(2.0, 6000, 600_000))

    summary = summary_of({"scaling": [case | {"raw_bare": {"seconds": 1.6}}]})

    assert summary["deep_1000_vs_raw"] == pytest.approx(1.0)
    assert summary["deep_1000_vs_bare_raw"] == pytest.approx(1.25)


def test_tells_how_well_a_promised_ratio_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    case = _case("wide", 1000, ours=(1.1, 3000, 400_000), raw=(1.0, 3000, 400_000))
    case["ours"] |= {"all_seconds": [1.0, 1.1, 1.3, 1.0, 1.2]}  # type: ignore[operator]
    case["raw"] |= {"all_seconds": [0.9, 1.0, 1.4, 1.1, 1.0]}  # type: ignore[operator]
    results = {"machine": MACHINE, "scaling": [case]}

    summary = summary_of(results)
    print_report(results, summary)

    assert summary["wide_1000_vs_raw_standard_error"] == pytest.approx(ERROR, abs=0.001)
    assert f"1.100 ± {ERROR:.3f}" in capsys.readouterr().out
    assert summary["deep_1000_vs_raw_standard_error"] is None


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [(1.2, "NO"), (1.051, "NO, within its error"), (1.049, "yes, within its error"), (0.9, "yes")],
)
def test_says_when_a_ratio_is_too_near_to_its_limit_to_tell(
    capsys: pytest.CaptureFixture[str], seconds: float, verdict: str
) -> None:
    case = _case("wide", 1000, ours=(seconds, 3000, 400_000), raw=(1.0, 3000, 400_000))
    results = {"machine": MACHINE, "scaling": [case]}

    print_report(results, {"wide_1000_vs_raw": seconds, "wide_1000_vs_raw_standard_error": 0.03})

    (row,) = (line for line in capsys.readouterr().out.splitlines() if "wide_1000_vs_raw" in line)
    assert row.split("│")[-2].strip() == verdict


def test_sets_the_last_runs_of_a_server_beside_its_first(capsys: pytest.CaptureFixture[str]) -> None:
    first = {"seconds": 2.0, "worker_cpu_s": 1.0, "server_cpu_s": 3.0}
    last = {"seconds": 7.0, "worker_cpu_s": 1.5, "server_cpu_s": 9.0}
    aged = {"graph": "wide:1000", "runs": 90, "ends": 10, "first": first, "last": last, "last_over_first": 3.5}
    results = {"machine": MACHINE, "aging": aged}

    summary = summary_of(results)
    assert summary_of({"aging": aged | {"runs": 3}})["aged_over_new"] is None
    print_report(results, summary)

    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert summary["aged_over_new"] == pytest.approx(3.5)
    assert ["last 10", "7", "1.5", "9"] in rows
    assert ["last/first", "3.50", "1.50", "3.00"] in rows
    assert ["aged_over_new", "3.5", "<= 1.5", "NO"] in rows


def test_promises_a_constant_of_events_and_no_ratio() -> None:
    promises = {promise.figure: promise for promise in PROMISES}

    assert promises["events_over_raw"].limit == 100
    assert "events_vs_raw" not in promises
    assert not any(figure.endswith("_vs_bare_raw") for figure in promises)


@pytest.mark.parametrize(("repeat", "is_marked"), [(1, True), (3, False)], ids=["once", "thrice"])
def test_marks_times_that_come_from_one_run(
    capsys: pytest.CaptureFixture[str], repeat: int, *, is_marked: bool
) -> None:
    small = _case("wide", 1000, ours=(1.1, 3000, 400_000), raw=(1.0, 3000, 400_000))
    large = _case("wide", 10_000, ours=(12.1, 31_000, 4_800_000), raw=(10.0, 30_000, 4_000_000), repeat=repeat)
    results = {"machine": MACHINE, "scaling": [small, large]}

    print_report(results, summary_of(results))

    printed = capsys.readouterr().out
    assert ("10,000*" in printed) is is_marked
    assert ("time_10000_over_1000*" in printed) is is_marked
    assert ("--repeat-large" in printed) is is_marked
    assert "1,000*" not in printed


def _case(
    shape: str, nodes: int, *, ours: tuple[float, int, int], raw: tuple[float, int, int] | None, repeat: int = 1
) -> dict[str, object]:
    sides = {"ours": _side(nodes, *ours)} | ({} if raw is None else {"raw": _side(nodes, *raw)})
    return {"shape": shape, "nodes": nodes, "repeat": repeat, **sides}


def _side(nodes: int, seconds: float, events: int, size: int) -> dict[str, object]:
    history = {"events": events, "bytes": size, "runs": 1, "largest_run_events": events, "largest_run_bytes": size}
    sizes = {"bytes_per_node": size / nodes, "store_bytes_per_node": 40_000 / nodes}
    times = {"seconds": seconds, "all_seconds": [seconds], "nodes_per_s": nodes / seconds}
    return {**times, **sizes, "history": history}
