from pathlib import Path

import pytest

from cli.database import Database
from tests.cli.conftest import CommandLine

MARK = "temporal.db.incomplete"


def names(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()}


def test_first_start_that_was_killed_is_put_away_and_the_next_one_works(
    command_line: CommandLine, tmp_path: Path
) -> None:
    home = tmp_path / ".whippletree"
    home.mkdir()
    (home / "temporal.db").write_bytes(b"half a schema")
    (home / "temporal.db-wal").write_bytes(b"the other half")
    (home / MARK).touch()

    done = command_line("--goal", "anything")

    assert done.code == 0, done.said
    assert "no run is in its unfinished temporal.db: moved to temporal.db.unfinished-1," in done.said.splitlines()[0]
    assert (home / "temporal.db.unfinished-1").read_bytes() == b"half a schema"
    assert (home / "temporal.db.unfinished-1-wal").read_bytes() == b"the other half"
    assert MARK not in names(home)


@pytest.mark.parametrize(
    ("content", "is_marked", "is_put_away"),
    [(b"runs", False, False), (b"half", True, True), (b"", False, True), (None, True, False)],
)
def test_only_a_database_that_no_server_has_finished_is_put_away(
    tmp_path: Path,
    content: bytes | None,
    is_marked: bool,  # noqa: FBT001 - a column of the table
    is_put_away: bool,  # noqa: FBT001
) -> None:
    path = tmp_path / "temporal.db"
    if content is not None:
        path.write_bytes(content)
    if is_marked:
        (tmp_path / MARK).touch()

    Database(path).prepare()

    assert ("temporal.db.unfinished-1" in names(tmp_path)) == is_put_away
    assert path.exists() == (content is not None and not is_put_away)
    assert (MARK in names(tmp_path)) == (not path.exists())


def test_nothing_that_was_put_away_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "temporal.db"
    for content in ("one", "two"):
        path.write_text(content)
        (tmp_path / MARK).touch()
        Database(path).prepare()

    assert (tmp_path / "temporal.db.unfinished-1").read_text() == "one"
    assert (tmp_path / "temporal.db.unfinished-2").read_text() == "two"
