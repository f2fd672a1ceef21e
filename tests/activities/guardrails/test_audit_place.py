"""A place of the audit log that cannot be written is found before anything runs."""

import os
import stat
from pathlib import Path

import pytest

from activities.guardrails.audit_place import require_writable
from activities.settings import SettingsError


def test_a_place_that_can_be_written_is_left_empty(tmp_path: Path) -> None:
    require_writable(tmp_path / "new" / "audit")

    assert list((tmp_path / "new" / "audit").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_its_owner_may_enter_a_place_that_is_made(tmp_path: Path) -> None:
    require_writable(tmp_path / "audit")

    assert stat.S_IMODE((tmp_path / "audit").stat().st_mode) == 0o700


def test_a_place_below_a_file_is_refused_in_one_line_that_names_variable_and_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SettingsError) as caught:
        require_writable(tmp_path / "file" / "audit")

    assert str(caught.value) == (
        f"the audit log cannot be written to {tmp_path}/file/audit (Not a directory): let WHIPPLETREE_AUDIT name a "
        "directory that can be written to, or be off"
    )


def test_a_file_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SettingsError, match=r"/file \(File exists\)"):
        require_writable(tmp_path / "file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_place_that_takes_no_files_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^the audit log cannot be written to /proc/self/fdinfo "):
        require_writable(Path("/proc/self/fdinfo"))
