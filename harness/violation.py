"""Violations: what the rules find wrong in a plan, in words that tell a planner what would be right."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """The rules of a plan. Each may be broken several times."""

    EMPTY_PLAN = "EMPTY_PLAN"
    TOO_MANY_NODES = "TOO_MANY_NODES"
    """More nodes than one plan may have."""
    TOO_MANY_CALLS = "TOO_MANY_CALLS"
    """More nodes than the budget has tool calls left."""
    FINAL_SYNTHESIS_COUNT = "FINAL_SYNTHESIS_COUNT"
    BAD_ID = "BAD_ID"
    DUPLICATE_ID = "DUPLICATE_ID"
    BAD_DEPENDENCY = "BAD_DEPENDENCY"
    """A dependency that is blank or no node of the plan."""
    CYCLE = "CYCLE"
    """Nodes that wait for each other, or one that waits for itself."""
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    WITHHELD_TOOL = "WITHHELD_TOOL"
    """A tool that the run may not use."""
    LEFT_OUT_TOOL = "LEFT_OUT_TOOL"
    """A tool that the run may use, but that the planner was not shown."""
    UNKNOWN_ARGUMENT = "UNKNOWN_ARGUMENT"
    REPEATED_ARGUMENT = "REPEATED_ARGUMENT"
    MISSING_ARGUMENT = "MISSING_ARGUMENT"
    BAD_BINDING = "BAD_BINDING"
    """A value whose fields do not go together."""
    BAD_LITERAL = "BAD_LITERAL"
    BAD_SOURCE = "BAD_SOURCE"
    """A source that is no node of the plan, or not among the node's deps."""
    BAD_PATH = "BAD_PATH"
    """A path that is malformed or that no result of the source can have."""
    RESULT_CANNOT_FIT = "RESULT_CANNOT_FIT"
    FINAL_SYNTHESIS_NOT_LAST = "FINAL_SYNTHESIS_NOT_LAST"
    UNUSED_READ = "UNUSED_READ"
    """A READ whose result the report does not depend on."""


@dataclass(frozen=True)
class Violation:
    """One way in which a plan breaks a rule."""

    node_id: str | None
    """The node at fault; None when it is the plan as a whole, or a node whose id is itself at fault."""
    rule: Rule
    message: str
    """What is wrong, where, and what would be right. Bounded and escaped, whatever the plan holds."""


def summarize(violations: Sequence[Violation], limit: int = 20) -> str:
    """Return the messages of the first violations, one a line, and the number of those left out."""
    lines = [violation.message for violation in violations[:limit]]
    if len(violations) > limit:
        lines.append(f"and {len(violations) - limit} more violations")
    return "\n".join(lines)
