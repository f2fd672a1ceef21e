import json
import os
import resource
import signal
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from activities.guardrails import audit
from activities.guardrails.audit import AuditEntry, AuditLog, Caller, Direction

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
CALLER = Caller("r", "draft_plan", "a1", 1)
ENTRY = AuditEntry(direction=Direction.OUTPUT, is_allowed=True, guardrails=("injection", "pii"), flags=("grounding:1",),
                   digest="ab", role="planner", model="m", tokens=8, latency_ms=4)  # fmt: skip


def test_an_entry_is_one_line_of_json(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit", lambda: NOON).write(CALLER, ENTRY)

    [file] = (tmp_path / "audit").iterdir()
    assert json.loads(file.read_text()) == {
        "time": "2026-11-30T12:00:00.000+00:00",
        "run_id": "r",
        "activity": "draft_plan",
        "activity_id": "a1",
        "try": 1,
        "direction": "output",
        "allowed": True,
        "guardrails": ["injection", "pii"],
        "flags": ["grounding:1"],
        "digest": "ab",
        "role": "planner",
        "model": "m",
        "tokens": 8,
        "latency_ms": 4,
    }
    assert file.name.startswith("audit-2026-11-30-")
    assert file.name.endswith(f"-{os.getpid()}.jsonl")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_its_owner_may_read_the_log(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit", lambda: NOON).write(CALLER, ENTRY)

    [file] = (tmp_path / "audit").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "audit").stat().st_mode) == 0o700


def test_lines_are_appended_also_by_the_next_process_of_that_number(tmp_path: Path) -> None:
    for _ in range(2):
        AuditLog(tmp_path, lambda: NOON).write(CALLER, ENTRY)

    [file] = tmp_path.iterdir()
    assert len(file.read_text().splitlines()) == 2


def test_each_day_has_a_file_of_its_own(tmp_path: Path) -> None:
    days = iter([NOON, datetime(2026, 12, 1, tzinfo=UTC)])
    log = AuditLog(tmp_path, lambda: next(days))

    log.write(CALLER, ENTRY)
    log.write(CALLER, ENTRY)

    assert [file.name[:16] for file in sorted(tmp_path.iterdir())] == ["audit-2026-11-30", "audit-2026-12-01"]


def test_a_full_file_gets_no_more_lines(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, lambda: NOON)
    log.write(CALLER, ENTRY)
    [first] = tmp_path.iterdir()
    os.truncate(first, audit.MAX_FILE_BYTES)

    log.write(CALLER, ENTRY)
    log.write(CALLER, ENTRY)

    second = first.with_name(first.name.replace(".jsonl", ".1.jsonl"))
    assert first.stat().st_size == audit.MAX_FILE_BYTES
    assert len(second.read_text().splitlines()) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of file sizes")
def test_a_line_that_a_full_disk_cuts_off_leaves_nothing(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, lambda: NOON)
    log.write(CALLER, ENTRY)
    [file] = tmp_path.iterdir()
    size = file.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
    try:
        with pytest.raises(OSError, match="in part"):
            log.write(CALLER, ENTRY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    log.write(CALLER, ENTRY)

    assert [json.loads(line)["run_id"] for line in file.read_text().splitlines()] == ["r", "r"]


def test_a_log_without_a_place_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(OSError, match="file"):
        AuditLog(tmp_path / "file" / "audit", lambda: NOON).write(CALLER, ENTRY)
