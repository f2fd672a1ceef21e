"""Processes of the benchmark: what they use, read from /proc, and worker processes that come and go."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.failure import BenchFailure
from bench.worker_spec import READY, WorkerSpec

START_LIMIT_S = 60
STOP_LIMIT_S = 15
ROOT = Path(__file__).parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def machine_cpu_s() -> float:
    """Return the seconds of processor time that all processes of the machine have used."""
    user, nice, system, _, _, irq, soft_irq = map(int, Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + soft_irq) / _TICKS


def peak_rss_mb(pid: int) -> float:
    """Return the most memory that a process has had resident, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kib = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return kib / 1024


@dataclass(frozen=True)
class WorkerProcess:
    """A worker that serves."""

    process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self.process.pid

    def check(self) -> None:
        """Refuse a worker that has ended by itself."""
        if self.process.returncode is not None:
            raise BenchFailure(f"a worker process ended with code {self.process.returncode}; its words are above")


@asynccontextmanager
async def workers(spec: WorkerSpec, count: int = 1) -> AsyncIterator[list[WorkerProcess]]:
    """Run so many worker processes while the body runs."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(_worker(spec)) for _ in range(count)]


@asynccontextmanager
async def _worker(spec: WorkerSpec) -> AsyncIterator[WorkerProcess]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.worker", spec.model_dump_json(exclude_unset=True)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # the terminal's Ctrl-C is not meant for it; it ends with its standard input
    )
    try:
        await _wait_until_ready(process)
        yield WorkerProcess(process)
    finally:
        await _stop(process)


async def _wait_until_ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_LIMIT_S)
    except TimeoutError:
        raise BenchFailure(f"a worker process was not ready within {START_LIMIT_S} s") from None
    if line.decode().strip() != READY:
        raise BenchFailure(f"a worker process ended while starting; it said {line!r}, the rest is above")


async def _stop(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), STOP_LIMIT_S)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
