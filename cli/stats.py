"""The command that gives figures of tools over recent runs."""

import re
from collections.abc import Iterator
from datetime import timedelta

from cli import home as state
from cli.artifacts import UNITS
from cli.exit_codes import ExitCode, Refusal
from cli.plain_text import answer, one_line
from cli.recent_runs import RecentRuns, Traces, read_traces
from cli.render import as_json
from cli.session import open_session
from cli.tool_table import answer_table
from harness.tool_stats import ToolStats, stats_of

NAMED = 10
"""Runs that are named of those whose trace cannot be read; --json names them all."""
HEADINGS = ("tool", "calls", "failed", "rate", "p50 ms", "p95 ms", "max ms", "retries", "reused", "failures by code")
_NUMERIC = frozenset(HEADINGS[1:-1])
_REASON_CHARS = 300


def read_since(text: str) -> timedelta:
    """Read an age such as 7d."""
    match = re.fullmatch(r"([0-9]{1,5})([smhd])", text.strip(), re.ASCII)
    if match is None or not int(match[1]):
        raise Refusal(f"--since is {text[:20]!r}: give a whole number above 0 and a unit of s, m, h or d, such as 7d.")
    return int(match[1]) * UNITS[match[2]]


async def stats(runs: RecentRuns, *, as_json_text: bool) -> ExitCode:
    """Print the figures of every tool, the worst first."""
    async with open_session(_refuse_without_runs) as session:
        traces = await read_traces(session.client, runs)
    tools = stats_of(traces.events)
    if as_json_text:
        seen = {"runs": len(traces.events), "running": traces.running, "unreadable": traces.unread}
        answer(as_json({**seen, "tools": tools}))
        return ExitCode.SUCCEEDED
    if tools:
        answer_table(HEADINGS, [_row(tool) for tool in tools], numeric=_NUMERIC)
        answer("")
    answer(*_summary(traces, has_tools=bool(tools)))
    return ExitCode.SUCCEEDED


def _row(tool: ToolStats) -> tuple[str, ...]:
    latencies = ("" if number is None else f"{number:,}" for number in (tool.p50_ms, tool.p95_ms, tool.max_ms))
    codes = ", ".join(f"{code} {count:,}" for code, count in tool.failures.items())
    failed = f"{sum(tool.failures.values()):,}"
    rate = f"{tool.failure_rate:.1%}" if tool.calls else ""
    return (tool.tool, f"{tool.calls:,}", failed, rate, *latencies, f"{tool.retries:,}", f"{tool.reused:,}", codes)


def _summary(traces: Traces, *, has_tools: bool) -> Iterator[str]:
    line = f"{'' if has_tools else 'No tool was called. '}{_runs(len(traces.events))} read"
    if traces.running:
        line += f"; {_runs(traces.running)} under way left out"
    if traces.unread:
        line += f"; {_runs(len(traces.unread))} whose trace cannot be read:"
    yield line
    for run in traces.unread[:NAMED]:
        yield f"  {one_line(run.run_id)}: {one_line(run.reason, _REASON_CHARS)}"
    if len(traces.unread) > NAMED:
        yield f"  and {len(traces.unread) - NAMED:,} more; --json names them all"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def _refuse_without_runs() -> None:
    if not (state.state_dir() / "temporal.db").exists():
        raise Refusal(
            f"There is no Temporal server here, and nothing has been run in {state.state_dir()}: change to the "
            f"directory of the runs, or set {state.SETTING} or TEMPORAL_ADDRESS."
        )
