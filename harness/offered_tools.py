"""The tools that an agent loop offers its model: those of its catalog but the writers of reports, and its memory's."""

from harness.catalog import Catalog, ToolRole, ToolSpec
from harness.errors import ErrorCode, ToolError, listed
from harness.memory import MEMORY_NAMES, MEMORY_TOOLS


def offered_tools(catalog: Catalog) -> tuple[ToolSpec, ...]:
    """Return what a loop offers, in the order of the catalog and with MEMORY_TOOLS last.

    The loop's own answer is the report, so tools that write one are left out, unless there are no others.

    Raises:
        ToolError: INVALID_ARGUMENT when a tool has a name that the loop needs for itself.
    """
    taken = [tool.name for tool in catalog.tools if tool.name in MEMORY_NAMES]
    if taken:
        raise ToolError(
            ErrorCode.INVALID_ARGUMENT,
            f"agent loops have tools of their own with these names: {listed(taken)}; rename those of toolkit "
            f"{catalog.toolkit!r}, or deny them to the run",
        )
    reading = tuple(tool for tool in catalog.tools if tool.role is not ToolRole.FINAL_SYNTHESIS)
    return (*(reading or catalog.tools), *MEMORY_TOOLS)
