"""Whether the audit log can be kept: found out when a worker starts, not by the first run that it would stop."""

from pathlib import Path
from tempfile import TemporaryFile

from activities.settings import AUDIT, SettingsError


def require_writable(folder: Path) -> None:
    """Make the folder of the audit log, and write into a file there that is gone at once.

    Raises:
        SettingsError: when that does not work.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with TemporaryFile(dir=folder, buffering=0) as file:
            file.write(b"probe")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(
            f"the audit log cannot be written to {folder} ({reason}): let {AUDIT} name a directory that can be written "
            "to, or be off"
        ) from error
