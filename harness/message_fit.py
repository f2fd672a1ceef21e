"""How what a run carries, answers and returns stays under what one message can hold, whatever the size of its parts."""

from collections import deque
from collections.abc import Iterable, Iterator

from pydantic import BaseModel, JsonValue

from harness.carry import Carry
from harness.errors import bounded
from harness.plan import ArgumentBinding
from harness.recovery import bounded_failure
from harness.run import AttemptRecord, NodeReport, RunResult, RunView
from harness.trace import TraceEvent
from harness.verification import bounded_verdict
from harness.wire_size import Room, encoded_size

MAX_MESSAGE_BYTES = 1_500_000
"""Temporal refuses a payload over 2 MiB, for ever; a request has up to 125 KB, a report up to 1 MiB."""
_MAX_TEXT = 10_000
"""Characters that are kept of the error of a result, and of the feedback of a carry, which do not fit whole."""
_MAX_NODE_TEXT = 200
"""Characters that are kept of the error and of each literal of a node that does not fit whole."""
_MAX_CHAR_BYTES = 6
"""A control character travels as \\u0000."""


def fit_carry(carry: Carry, limit: int = MAX_MESSAGE_BYTES) -> Carry:
    """Return the carry within the limit, whatever the size of its parts.

    The room is given by worth: half of it to reusable results, the smallest first; then to the newest failures, to the
    nodes of the newest attempts, their texts cut where that makes them fit, and to the newest trace events; what is
    left to more results. Attempts and trace count what they lose; a result that is lost is paid for again.
    """
    if _fits(carry, (*carry.failures, *carry.attempts, *carry.trace), limit):
        return carry
    least = carry.model_copy(
        update={
            "failures": (),
            "attempts": tuple(map(_without_nodes, carry.attempts)),
            "paid": {},
            "trace": (),
            "trace_dropped": carry.trace_dropped + len(carry.trace),
            "feedback": bounded(carry.feedback, _MAX_TEXT),
        }
    )
    room = Room(limit - encoded_size(least))
    results = _SmallestFirst(carry.paid)
    results.fill(room, room.left // 2)
    failures = room.last(tuple(map(bounded_failure, carry.failures)))
    attempts, trace = _fill_record(carry.attempts, carry.trace, room)
    results.fill(room, room.left)
    return least.model_copy(
        update={
            "failures": failures,
            "attempts": attempts,
            "paid": results.kept,
            "trace": trace,
            "trace_dropped": least.trace_dropped - len(trace),
        }
    )


def fit_result(result: RunResult, limit: int = MAX_MESSAGE_BYTES) -> RunResult:
    """Return the result within the limit, whatever the size of its parts.

    The room is given by worth: to the report, which is only cut when it is larger than any node may return; to the
    plan, its texts cut where that makes it fit, else to its first nodes; to the nodes of the newest attempts, likewise;
    to the newest trace events. All three count what they lose, and a text that is cut says so.
    """
    if _fits(result, (*result.plan, *result.attempts, *result.trace), limit):
        return result
    least = result.model_copy(
        update={
            "report": None,
            "error": None if result.error is None else bounded(result.error, _MAX_TEXT),
            "verdict": None if result.verdict is None else bounded_verdict(result.verdict),
            "plan": (),
            "plan_dropped": result.plan_dropped + len(result.plan),
            "attempts": tuple(map(_without_nodes, result.attempts)),
            "trace": (),
            "trace_dropped": result.trace_dropped + len(result.trace),
        }
    )
    room = Room(limit - encoded_size(least))
    report = _fill_report(result.report, room)
    plan = result.plan if room.holds(result.plan) else room.first(map(_brief, result.plan))
    attempts, trace = _fill_record(result.attempts, result.trace, room)
    return least.model_copy(
        update={
            "report": report,
            "plan": plan,
            "plan_dropped": least.plan_dropped - len(plan),
            "attempts": attempts,
            "trace": trace,
            "trace_dropped": least.trace_dropped - len(trace),
        }
    )


def fit_view(view: RunView, limit: int = MAX_MESSAGE_BYTES) -> RunView:
    """Return the view within the limit: the texts of its nodes are cut where that makes them fit, else the last go."""
    if _fits(view, view.nodes, limit):
        return view
    least = view.model_copy(update={"nodes": ()})
    nodes = Room(limit - encoded_size(least)).first(map(_brief, view.nodes))
    return view.model_copy(update={"nodes": nodes, "nodes_dropped": len(view.nodes) - len(nodes)})


class _SmallestFirst:
    """Reusable results, of which the smallest are kept."""

    def __init__(self, paid: dict[str, JsonValue]) -> None:
        self._paid = paid
        self._sizes = {key: encoded_size({key: value}) for key, value in paid.items()}
        self._waiting = deque(sorted(paid, key=self._sizes.__getitem__))
        self._kept: set[str] = set()

    @property
    def kept(self) -> dict[str, JsonValue]:
        """Return what is kept, oldest first."""
        return {key: value for key, value in self._paid.items() if key in self._kept}

    def fill(self, room: Room, share: int) -> None:
        """Keep more results, in so many bytes of the room."""
        part = Room(share)
        while self._waiting and part.take(self._sizes[self._waiting[0]]):
            key = self._waiting.popleft()
            room.take(self._sizes[key])
            self._kept.add(key)


def _fits(value: BaseModel, parts: Iterable[BaseModel], limit: int) -> bool:
    """Measure part by part first: the whole of what is much too large would take seconds."""
    return all(map(Room(limit).holds, parts)) and encoded_size(value) <= limit


def _fill_report(report: str | None, room: Room) -> str | None:
    if report is None or room.holds(report):
        return report
    cut = bounded(report, room.left // _MAX_CHAR_BYTES)
    room.take(encoded_size(cut))
    return cut


def _fill_record(
    attempts: tuple[AttemptRecord, ...], trace: tuple[TraceEvent, ...], room: Room
) -> tuple[tuple[AttemptRecord, ...], tuple[TraceEvent, ...]]:
    """Return the newest attempts with their nodes, the older ones without, and then the newest trace events."""
    kept: list[AttemptRecord] = []
    for attempt in reversed(attempts):
        fitting = next(filter(room.holds, _whole_or_brief(attempt)), None)
        if fitting is None:
            break
        kept.append(fitting)
    bare = map(_without_nodes, attempts[: len(attempts) - len(kept)])
    return (*bare, *reversed(kept)), room.last(trace)


def _whole_or_brief(attempt: AttemptRecord) -> Iterator[AttemptRecord]:
    yield attempt
    yield attempt.model_copy(update={"nodes": tuple(map(_brief, attempt.nodes)), "error": bounded(attempt.error)})


def _without_nodes(attempt: AttemptRecord) -> AttemptRecord:
    dropped = attempt.nodes_dropped + len(attempt.nodes)
    return attempt.model_copy(update={"nodes": (), "nodes_dropped": dropped, "error": bounded(attempt.error)})


def _brief(report: NodeReport) -> NodeReport:
    """Cut the texts of a node."""
    arguments = tuple(map(_brief_argument, report.node.arguments))
    error = None if report.error is None else bounded(report.error, _MAX_NODE_TEXT)
    return report.model_copy(update={"node": report.node.model_copy(update={"arguments": arguments}), "error": error})


def _brief_argument(argument: ArgumentBinding) -> ArgumentBinding:
    literal = bounded(argument.value.literal_value, _MAX_NODE_TEXT)
    return argument.model_copy(update={"value": argument.value.model_copy(update={"literal_value": literal})})
