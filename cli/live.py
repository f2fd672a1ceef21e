"""The live picture of a run on a terminal: phase, nodes, budget."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cli.plain_text import one_line
from cli.progress import Progress
from cli.render import budget_rows
from cli.runs import Run
from harness.budget import HIGH_PRESSURE, BudgetSnapshot
from harness.run import NodeReport, RunResult, RunView
from harness.schedule import NodeStatus
from harness.trace import TraceEvent

STYLES = {
    NodeStatus.PENDING: "dim",
    NodeStatus.RUNNING: "cyan",
    NodeStatus.DONE: "green",
    NodeStatus.FAILED: "red",
    NodeStatus.SKIPPED: "yellow",
    NodeStatus.CANCELLED: "yellow",
}
FIXED_LINES = 12
"""Lines of the picture beside those of the nodes."""


class Live(Progress):
    """Draws over itself; everything that comes from a run is drawn as text, never as markup."""

    def __init__(self) -> None:
        """Take the terminal."""
        super().__init__()
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._message = ""
        self._live = RichLive(console=self._console, auto_refresh=False, redirect_stdout=False)
        self._live.start()

    async def update(self, run: Run) -> None:
        """Draw the run as it is now."""
        await super().update(run)
        self._draw(await run.state())

    def show(self, events: tuple[TraceEvent, ...]) -> None:
        """Keep the last message."""
        last = events[-1]
        self._message = one_line(f"{last.kind}  {last.node_id or ''}  {last.message or last.status}")

    def end(self, result: RunResult) -> None:
        """Draw the run as it ended."""
        super().end(result)
        heading = f"{result.status}  attempt {len(result.attempts)}  {result.model}"
        counts = Counter(report.status for report in result.plan)
        self._show_picture(self._picture(result.run_id, heading, result.plan, counts, result.budget))

    def close(self) -> None:
        """Give the terminal back."""
        with suppress(OSError):
            self._live.stop()

    def _draw(self, view: RunView) -> None:
        heading = f"{view.status or view.phase}  attempt {view.attempt}  {view.model}"
        self._show_picture(self._picture(view.run_id, heading, view.nodes, view.counts, view.budget))

    def _show_picture(self, picture: RenderableType) -> None:
        with suppress(OSError):  # the terminal may go, the run goes on
            self._live.update(picture, refresh=True)

    def _picture(
        self,
        run_id: str,
        heading: str,
        nodes: Sequence[NodeReport],
        counts: Mapping[NodeStatus, int],
        budget: BudgetSnapshot,
    ) -> RenderableType:
        head = Text.assemble((one_line(run_id), "bold"), "  ", one_line(heading))
        room = max(3, self._console.height - FIXED_LINES)
        return Group(head, _node_table(nodes, counts, room), _budget_table(budget), _line(self._message))


def _node_table(nodes: Sequence[NodeReport], counts: Mapping[NodeStatus, int], room: int) -> RenderableType:
    shown = nodes if len(nodes) <= room else _most_telling(nodes, room - 1)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("node", "tool", "status", "tries", "latency", ""):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", header_style="dim")
    for report in shown:
        latency = "" if report.latency_ms is None else f"{report.latency_ms} ms"
        note = report.error or ("reused" if report.reused else "")
        cells = (report.node.id, report.node.tool, report.status, str(report.tries), latency, note)
        table.add_row(*(Text(one_line(cell)) for cell in cells), style=STYLES[report.status])
    if len(shown) == sum(counts.values()):
        return table
    return Group(table, _line(", ".join(f"{count} {status}" for status, count in counts.items())))


def _most_telling(nodes: Sequence[NodeReport], room: int) -> list[NodeReport]:
    """Return the nodes that do not fit all: what runs first, then what went wrong, what is next, what is done."""
    order = (NodeStatus.RUNNING, NodeStatus.FAILED, NodeStatus.PENDING)
    rank = {status: number for number, status in enumerate(order)}
    return sorted(nodes, key=lambda report: rank.get(report.status, len(order)))[:room]


def _budget_table(budget: BudgetSnapshot) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in budget_rows(budget):
        style = "red" if row.utilisation >= HIGH_PRESSURE else "green"
        bar = ProgressBar(total=1, completed=min(1.0, row.utilisation), width=24, complete_style=style)
        table.add_row(Text(row.name), bar, Text(row.text))
    return table


def _line(text: str) -> Text:
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")
