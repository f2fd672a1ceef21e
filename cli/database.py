"""The file of the embedded Temporal server, which must survive a server that is killed while it creates it."""

from pathlib import Path

from cli.exit_codes import Refusal
from cli.plain_text import say

_BESIDE = ("", "-wal", "-shm")
"""What SQLite appends to the name for the files that belong together."""


class Database:
    """A database that is complete once a server has answered with it. Only the holder of the gate may call this.

    The server creates its tables one by one, and does not start on a file that has only some of them. So a mark stands
    beside the file until the first server has answered; before that nobody can have put a run into it.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; it need not be there."""
        self.path = path
        self._mark = path.with_name(f"{path.name}.incomplete")

    def prepare(self) -> None:
        """Put away what a server left that was killed before its tables were there."""
        try:
            if self.path.is_file() and (self._mark.exists() or not self.path.stat().st_size):
                self._put_away()
            if not self.path.exists():
                self._mark.touch()
        except OSError as error:
            raise Refusal(f"{error.filename} cannot be written ({error.strerror}): correct its permissions.") from error

    def note_complete(self) -> None:
        """Take note that a server has answered."""
        self._mark.unlink(missing_ok=True)

    def _put_away(self) -> None:
        number = 1
        while any(self._put_away_name(number, end).exists() for end in _BESIDE):
            number += 1
        for end in _BESIDE:
            file = self.path.with_name(self.path.name + end)
            if file.exists():
                file.rename(self._put_away_name(number, end))
        say(
            f"The first start of the Temporal server was cut short, and no run is in its unfinished {self.path.name}: "
            f"moved to {self._put_away_name(number, '').name}, starting anew."
        )

    def _put_away_name(self, number: int, end: str) -> Path:
        return self.path.with_name(f"{self.path.name}.unfinished-{number}{end}")
