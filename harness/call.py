"""A call: what a node calls its tool with, and by what its result is known again."""

from dataclasses import dataclass
from functools import cached_property

from harness.binding import Arguments, reuse_keys
from harness.catalog import ToolSpec


@dataclass(frozen=True)
class Call:
    """A tool and its arguments."""

    tool: ToolSpec
    arguments: Arguments

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the keys under which a later attempt may take the result: hashes, for which most runs never ask."""
        return reuse_keys(self.tool, self.arguments) if self.tool.is_reusable else ()
