"""Whether the installed SDK is one whose source was read for what is left out of it."""

from importlib.metadata import version

VERIFIED_WITH = frozenset({"1.35.0"})
"""After a change of the SDK: read again what workflows.spared_walks and workflows.storing_converter leave out."""


def is_known() -> bool:
    """Return whether it is; of another one nothing may be left out."""
    return version("temporalio") in VERIFIED_WITH
