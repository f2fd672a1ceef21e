"""Where the artifacts of a run lie: folder names that any file system tells apart."""

import hashlib
import re
from functools import lru_cache

from harness.record import record
from harness.run_ids import root_run_id

_UNSAFE = re.compile(r"[^a-z0-9_.-]|^\.|\.$")
_MAX_NAME = 200
"""File systems allow 255 bytes in a name."""


@record()
class Owner:
    """The run to which an artifact belongs."""

    namespace: str
    run_id: str
    """The workflow id. Empty for what belongs to no run."""


@lru_cache(maxsize=1024)
def folder_of(owner: Owner) -> str:
    """Return where the artifacts of a run lie: names that any file system tells apart, also one that ignores case.

    What is not a small letter, a digit or one of `_.-` becomes %xx; a long name ends with the digest of the whole one.
    The agents in a run's plan have their artifacts with it: they read each other's results and private values.
    """
    return f"{name_of(owner.namespace)}/{name_of(root_run_id(owner.run_id))}"


def name_of(text: str) -> str:
    """Return the folder of a namespace, or within it the one of a run."""
    name = _UNSAFE.sub(_escaped, text)
    if len(name) <= _MAX_NAME:
        return name or "~"
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"{name[: _MAX_NAME - len(digest)]}~{digest}"


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match.group().encode(errors="surrogatepass"))
