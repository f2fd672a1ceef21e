"""Figures of tools over runs, from their trace events: how often each is called, how it fails, how long it takes."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.schedule import NodeStatus
from harness.trace import TraceEvent, TraceKind

UNKNOWN = "UNKNOWN"
"""Stands for the code of a failure that has none."""
_Z = 1.959964
"""Normal deviate of an interval that holds the true rate in 95 of 100 cases."""
_Node = tuple[str, int, str]


@dataclass(frozen=True)
class ToolStats:
    """How one tool has done. A call is one try."""

    tool: str
    calls: int
    """Tries that ended by themselves; those that the run has cancelled are not among them."""
    failures: Mapping[str, int]
    """Failed calls by error code, the most frequent first."""
    failure_rate: float
    """Failed calls of all calls, 0 to 1; 0 when there were none."""
    failure_rate_at_least: float
    """Lower end of the 95 % Wilson interval of that rate: few calls prove little."""
    retries: int
    """Failed calls that were followed by another one of the same dispatch."""
    reused: int
    """Nodes that took the result of an earlier attempt and made no call."""
    cancelled: int
    """Nodes that the run has cancelled."""
    p50_ms: int | None
    """Of the successful calls, as the others; None when there were none. Nearest rank."""
    p95_ms: int | None
    max_ms: int | None


def stats_of(runs: Iterable[Sequence[TraceEvent]]) -> tuple[ToolStats, ...]:
    """Return the figures of every tool in the traces of runs, the worst first.

    The worst has the highest failure rate that its number of calls proves, then the longest latency.
    """
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for events in runs:
        _count(events, tallies)
    every = [tally.stats(tool) for tool, tally in tallies.items() if tally.is_told]
    return tuple(sorted(every, key=lambda each: (-each.failure_rate_at_least, -(each.p95_ms or 0), each.tool)))


def wilson_lower_bound(failures: int, calls: int) -> float:
    """Return the lower end of the 95 % Wilson interval of failures among calls; 0 when there is no call."""
    if not failures:
        return 0.0
    rate, square = failures / calls, _Z * _Z
    spread = _Z * math.sqrt((rate * (1 - rate) + square / (4 * calls)) / calls)
    return (rate + square / (2 * calls) - spread) / (1 + square / calls)


def percentile(ascending: Sequence[int], percent: int) -> int | None:
    """Return the nearest-rank percentile of sorted numbers; None when there are none."""
    return ascending[math.ceil(len(ascending) * percent / 100) - 1] if ascending else None


@dataclass
class _Tally:
    latencies: list[int] = field(default_factory=list)
    successes: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    retries: int = 0
    reused: int = 0
    cancelled: int = 0

    @property
    def is_told(self) -> bool:
        return bool(self.successes or self.failures or self.reused or self.cancelled)

    def stats(self, tool: str) -> ToolStats:
        failed = self.failures.total()
        calls, latencies = self.successes + failed, sorted(self.latencies)
        return ToolStats(
            tool=tool,
            calls=calls,
            failures=dict(sorted(self.failures.items(), key=lambda each: (-each[1], each[0]))),
            failure_rate=failed / calls if calls else 0.0,
            failure_rate_at_least=wilson_lower_bound(failed, calls),
            retries=self.retries,
            reused=self.reused,
            cancelled=self.cancelled,
            p50_ms=percentile(latencies, 50),
            p95_ms=percentile(latencies, 95),
            max_ms=percentile(latencies, 100),
        )


def _count(events: Sequence[TraceEvent], tallies: Mapping[str, _Tally]) -> None:
    tries: dict[_Node, int] = {}
    for event in events:
        tool, node = event.data.get("tool"), (event.run_id, event.attempt, event.node_id or "")
        if not isinstance(tool, str):
            continue
        tally, code = tallies[tool], str(event.data.get("errorCode") or UNKNOWN)
        match event.kind:
            case TraceKind.NODE_FINISH:
                tally.successes += 1
                tally.latencies += [] if event.latency_ms is None else [event.latency_ms]
            case TraceKind.NODE_RETRY:
                tally.retries += 1
                tally.failures[code] += 1
            case TraceKind.NODE_REUSE:
                tally.reused += 1
            case TraceKind.NODE_FAIL if event.status == NodeStatus.CANCELLED:
                tally.cancelled += 1
            # A node also fails without any call, when its arguments cannot be had.
            case TraceKind.NODE_FAIL if _number(event, "tries") > tries.get(node, 0):
                tally.failures[code] += 1
        tries[node] = max(tries.get(node, 0), _number(event, "tries"), _number(event, "try"))


def _number(event: TraceEvent, key: str) -> int:
    """Return the number of tries of a node so far, by an event that tells it; else 0."""
    value = event.data.get(key)
    return value if isinstance(value, int) else 0
