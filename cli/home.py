"""The state directory: what the command line keeps between runs."""

import os
from pathlib import Path

from cli.exit_codes import Refusal

SETTING = "WHIPPLETREE_HOME"
ARTIFACTS = "WHIPPLETREE_ARTIFACTS"
"""Names where artifacts are kept: a directory or a URL."""


def state_dir() -> Path:
    """Return the state directory as an absolute path, without creating it."""
    return Path(os.environ.get(SETTING) or ".whippletree").absolute()


def artifacts() -> str:
    """Return where artifacts are kept: a directory or a URL."""
    return os.environ.get(ARTIFACTS, "").strip() or own_artifacts()


def own_artifacts() -> str:
    """Return where artifacts are kept unless a setting says otherwise."""
    return str(state_dir() / "artifacts")


def create(home: Path) -> None:
    """Create the state directory if it is missing, for its owner alone: histories and values of runs are in it."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"The state directory {home} cannot be created ({error.strerror}): run in a directory that can be written "
            f"to, or set {SETTING}."
        ) from error
