"""Shortcuts through the SDK: what it does for each payload and changes nothing by, with versions that are known."""

from harness.calls import ToolReply, ToolRequest
from workflows import known_sdk

_CONVERTER = "__temporal_transfer_type_converter"
"""The SDK asks the class of each value for this. Where there is none, pydantic takes 2 microseconds to say so."""


def take_shortcuts() -> None:
    """Take them in this process from now on; with any other version of the SDK, take none."""
    if not known_sdk.is_known():
        return
    from workflows import spared_walks  # noqa: PLC0415 - it knows what another version may not have

    spared_walks.install()
    for kind in (ToolRequest, ToolReply):
        setattr(kind, _CONVERTER, None)
