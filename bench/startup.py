"""The command line: from the command to the report on the embedded server, and to its help."""

import asyncio
import os
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.failure import BenchFailure
from bench.measure import Record, say
from bench.process import ROOT

GOAL = "A relaxed story game under 30 USD"
LIMIT_S = 120
_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH")


async def measure(repeat: int) -> Record:
    """Measure a first run in a new state directory, further ones in the same, and the help."""
    say("the command line ...")
    with TemporaryDirectory(prefix="whippletree-bench-home-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        cold = await _seconds(home, "--goal", GOAL)
        warm = [await _seconds(home, "--goal", GOAL) for _ in range(repeat)]
        helps = [await _seconds(home, "--help") for _ in range(repeat + 1)]
    return {
        "cold_s": round(cold, 3),
        "start_to_report_s": round(median(warm), 3),
        "all_warm_s": [round(one, 3) for one in warm],
        "help_s": round(median(helps), 3),
    }


async def _seconds(home: Path, *arguments: str) -> float:
    """Time a command in an environment without keys and servers, which therefore is offline."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"WHIPPLETREE_HOME": str(home)}
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(ROOT / "starter.py"), *arguments),
        cwd=home,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, words = await asyncio.wait_for(process.communicate(), LIMIT_S)
    except TimeoutError:
        process.kill()
        raise BenchFailure(f"starter.py {arguments[0]} did not end within {LIMIT_S} s") from None
    if process.returncode != 0:
        raise BenchFailure(f"starter.py {arguments[0]} ended with {process.returncode}: {words.decode()[-300:]}")
    return time.perf_counter() - began
