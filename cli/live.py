"""The live picture of a run on a terminal: phase, nodes, budget."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live as RichLive
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cli.error_words import ending
from cli.live_steps import step_table
from cli.plain_text import one_line
from cli.progress import Progress, subject_of
from cli.render import budget_rows, node_note
from cli.run_kinds import Result, View
from cli.runs import Run
from harness.budget import HIGH_PRESSURE, BudgetSnapshot
from harness.loop import LoopResult, LoopView
from harness.run import NodeReport
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
        self._message = one_line(f"{last.kind}  {subject_of(last)}  {last.message or last.status}")

    def end(self, result: Result) -> None:
        """Draw the run as it ended."""
        super().end(result)
        if isinstance(result, LoopResult):
            heading = f"{ending(result)}  step {result.steps_made}  {result.model}"
            work = step_table(result.steps, (), self._room)
        else:
            heading = f"{ending(result)}  attempt {len(result.attempts)}  {result.model}"
            work = _node_table(result.plan, Counter(report.status for report in result.plan), self._room)
        self._show_picture(self._picture(result.run_id, heading, work, result.budget))

    def close(self) -> None:
        """Give the terminal back."""
        with suppress(OSError):
            self._live.stop()

    def _draw(self, view: View) -> None:
        if isinstance(view, LoopView):
            heading = f"{view.status or view.phase}  step {view.steps_made} of {view.max_steps}  {view.model}"
            work = step_table(view.steps, view.in_flight, self._room)
        else:
            heading = f"{view.status or view.phase}  attempt {view.attempt}  {view.model}"
            work = _node_table(view.nodes, view.counts, self._room)
        self._show_picture(self._picture(view.run_id, heading, work, view.budget))

    def _show_picture(self, picture: RenderableType) -> None:
        with suppress(OSError):  # the terminal may go, the run goes on
            self._live.update(picture, refresh=True)

    @property
    def _room(self) -> int:
        return max(3, self._console.height - FIXED_LINES)

    def _picture(self, run_id: str, heading: str, work: RenderableType, budget: BudgetSnapshot) -> RenderableType:
        head = Text.assemble((one_line(run_id), "bold"), "  ", one_line(heading))
        return Group(head, work, _budget_table(budget), _line(self._message))


def _node_table(nodes: Sequence[NodeReport], counts: Mapping[NodeStatus, int], room: int) -> RenderableType:
    shown = nodes if len(nodes) <= room else _most_telling(nodes, room - 1)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("node", "tool", "status", "tries", "latency", ""):
        table.add_column(heading, no_wrap=True, overflow="ellipsis", header_style="dim")
    for report in shown:
        latency = "" if report.latency_ms is None else f"{report.latency_ms} ms"
        cells = (report.node.id, report.node.tool, report.status, str(report.tries), latency, node_note(report))
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
