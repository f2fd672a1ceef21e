"""Fixtures: a folder whose processes and files are counted."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="c") as short:  # addresses of sockets are files in it, and these have a limit
        (Path(short) / "w").mkdir()
        yield Path(short) / "w"
