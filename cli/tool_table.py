"""Tables of the answer: drawn by rich on a terminal, plain aligned lines elsewhere. Every cell is shown as text."""

import os
import sys
from collections.abc import Sequence

from cli.plain_text import AnswerLostError, answer, one_line

Row = Sequence[str]


def answer_table(headings: Row, rows: Sequence[Row], *, numeric: frozenset[str] = frozenset()) -> None:
    """Print a table on stdout; the columns under the headings of `numeric` are flush right."""
    table = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb":
        _draw(headings, table, numeric)
        return
    widths = [max(len(cell) for cell in column) for column in zip(headings, *table, strict=True)]
    is_right = [heading in numeric for heading in headings]
    for row in (headings, *table):
        cells = zip(row, widths, is_right, strict=True)
        answer("  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells).rstrip())


def _draw(headings: Row, rows: Sequence[Row], numeric: frozenset[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numeric else "left", header_style="dim")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    try:
        Console(markup=False, emoji=False, highlight=False).print(table)
    except OSError as error:
        raise AnswerLostError(error.strerror) from error
