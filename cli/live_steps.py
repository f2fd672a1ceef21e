"""The calls of an agent loop as a table of the live picture."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cli.loop_story import HEADINGS, step_cells
from cli.plain_text import one_line
from harness.loop import StepRecord


def step_table(records: Sequence[StepRecord], in_flight: Sequence[str], room: int) -> RenderableType:
    """Return the newest calls that there is room for, and the tools that are at work."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=True, overflow="ellipsis", header_style="dim")
    for record in records[-room:]:
        style = "green" if record.success else "red"
        table.add_row(*(Text(one_line(cell)) for cell in step_cells(record)), style=style)
    if not in_flight:
        return table
    at_work = Text(f"at work: {', '.join(map(one_line, in_flight))}", style="cyan", no_wrap=True, overflow="ellipsis")
    return Group(table, at_work)
