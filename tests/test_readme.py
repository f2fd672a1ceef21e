"""The README keeps its promises: its example runs, and every path that it names exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PATHS = sorted(set(re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.[a-z]+)?|[a-z_]+\.py|[A-Za-z-]+\.yml|Dockerfile)`", README)))
OWN = {"weather.py", ".whippletree/"}


@pytest.mark.parametrize("path", [path for path in PATHS if path not in OWN])
def test_a_path_that_it_names_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_its_toolkit_runs_as_written(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "weather.py").write_text(code)
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("TEMPORAL_", "OPENAI_", "OTEL_"))}

    done = subprocess.run(
        [sys.executable, "starter.py", "--goal", "A day for a picnic", "--toolkit", "weather:TOOLKIT"],
        cwd=ROOT,
        env=plain | {"PYTHONPATH": str(tmp_path), "WHIPPLETREE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "A day for a picnic: Friday is best, with 21 degrees.\n"
