"""Where in a user's own code an import has failed."""

import sysconfig
from pathlib import Path
from traceback import extract_tb

_ROOT = Path(__file__).resolve().parents[1]
_OURS = tuple(_ROOT / name for name in ("activities", "cli", "harness", "workflows", "starter.py", "worker.py"))
_TOOLKITS = _ROOT / "activities" / "toolkits"
"""A place for toolkits, and so for a user's own."""
_INSTALLED, _STANDARD = (
    tuple(Path(sysconfig.get_path(name)).resolve() for name in names)
    for names in (("purelib", "platlib"), ("stdlib", "platstdlib"))
)


def with_place(error: BaseException) -> str:
    """Return the line that an error has to say, with file and line of its cause where they are known."""
    place = place_of(error)
    return f"{error} (at {place})" if place else str(error)


def place_of(error: BaseException) -> str:
    """Return file and line where the cause of an error was raised, or was left to others; empty when that is unknown.

    That is the last frame of the user's own code; of a package that is installed, the first one.
    """
    cause = error.__cause__
    if isinstance(cause, SyntaxError) and cause.filename:
        return f"{_short(cause.filename)}:{cause.lineno}"
    frames = [(frame.filename, frame.lineno) for frame in (extract_tb(cause.__traceback__) if cause else ())]
    files = [place for place in frames if Path(place[0]).is_file() and not _is_ours(place[0])]
    installed = [place for place in files if _is_in(place[0], _INSTALLED)]
    own = [place for place in files if not _is_in(place[0], (*_INSTALLED, *_STANDARD))]
    return "".join(f"{_short(filename)}:{line}" for filename, line in own[-1:] or installed[:1])


def _is_ours(filename: str) -> bool:
    return _is_in(filename, _OURS) and not _is_in(filename, (_TOOLKITS,))


def _is_in(filename: str, places: tuple[Path, ...]) -> bool:
    return any(Path(filename).resolve().is_relative_to(place) for place in places)


def _short(filename: str) -> str:
    """Return a path from the working directory on, where it lies in there."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
