"""How what a run answers and returns stays under what one message can hold, whatever the size of its parts."""

from collections.abc import Iterable, Iterator
from itertools import islice

from pydantic import BaseModel

from harness.encoded import Encoded, encoded_whole, encoded_within
from harness.errors import bounded
from harness.plan import ArgumentBinding
from harness.run import AttemptRecord, NodeReport, RunResult, RunView
from harness.trace_log import NO_EVENTS, Trace
from harness.verification import bounded_verdict
from harness.wire_size import Room, encoded_size

MAX_ANSWER_BYTES = 1_500_000
"""Largest answer of a query: Temporal refuses a payload over 2 MiB, and answers are not put into the artifact store."""
MAX_RESULT_BYTES = 8_000_000
"""Largest result of a run. It is put into the artifact store, but the workflow must encode it in much less than 2 s."""
MAX_ATTEMPTS_BYTES = 4_000_000
"""Largest record of earlier attempts that a run carries on."""
_MAX_TEXT = 10_000
"""Characters that are kept of the error of a result that does not fit whole."""
_MAX_NODE_TEXT = 200
"""Characters that are kept of the error and of each literal of a node that does not fit whole."""
_PARTS_AT_A_TIME = 100
_MAX_CHAR_BYTES = 6
"""A control character travels as \\u0000."""


def fit_result(result: RunResult, limit: int = MAX_RESULT_BYTES) -> RunResult:
    """Return the result within the limit, whatever the size of its parts.

    The room is given by worth: to the report, which is only cut when it is larger than any node may return; to the
    plan, its texts cut where that makes it fit, else to its first nodes; to the nodes of the newest attempts, likewise;
    to the newest trace events. All three count what they lose, and a text that is cut says so.
    """
    rest = result.model_copy(update={"plan": (), "attempts": (), "trace": NO_EVENTS})
    if _fits(rest, (*result.plan, *result.attempts), limit - result.trace.size):
        return result
    least = result.model_copy(
        update={
            "report": None,
            "error": None if result.error is None else bounded(result.error, _MAX_TEXT),
            "verdict": None if result.verdict is None else bounded_verdict(result.verdict),
            "plan": (),
            "plan_dropped": result.plan_dropped + len(result.plan),
            "attempts": tuple(map(_without_nodes, result.attempts)),
            "trace": NO_EVENTS,
            "trace_dropped": result.trace_dropped + len(result.trace),
        }
    )
    room = Room(limit - encoded_size(least))
    report = fill_report(result.report, room)
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


def encode_result(result: RunResult, limit: int = MAX_RESULT_BYTES) -> Encoded:
    """Return the result encoded within the limit, cut as `fit_result` does where it must be."""
    return encoded_within(result, limit) or encoded_whole(fit_result(result, limit))


def fit_attempts(attempts: tuple[AttemptRecord, ...], limit: int = MAX_ATTEMPTS_BYTES) -> tuple[AttemptRecord, ...]:
    """Return earlier attempts within the limit: the newest with their nodes, the others without, which they count."""
    if all(map(Room(limit).holds, attempts)):
        return attempts
    least = sum(encoded_size(_without_nodes(attempt)) for attempt in attempts)
    return _fill_record(attempts, NO_EVENTS, Room(limit - least))[0]


def fit_view(view: RunView, limit: int = MAX_ANSWER_BYTES) -> RunView:
    """Return the view within the limit: the texts of its nodes are cut where that makes them fit, else the last go."""
    least = view.model_copy(update={"nodes": ()})
    if _fits(least, view.nodes, limit):
        return view
    nodes = Room(limit - encoded_size(least)).first(map(_brief, view.nodes))
    dropped = view.nodes_dropped + len(view.nodes) - len(nodes)
    return view.model_copy(update={"nodes": nodes, "nodes_dropped": dropped})


def _fits(rest: BaseModel, parts: Iterable[object], limit: int) -> bool:
    """Measure some parts at a time: the whole of what is much too large would take seconds."""
    room, left = Room(limit - encoded_size(rest)), iter(parts)
    while some := tuple(islice(left, _PARTS_AT_A_TIME)):
        if not room.holds(some):
            return False
    return room.left >= 0


def fill_report(report: str | None, room: Room) -> str | None:
    """Return a report, cut if the room does not hold it, and take its bytes."""
    if report is None or room.holds(report):
        return report
    cut = bounded(report, room.left // _MAX_CHAR_BYTES)
    room.take(encoded_size(cut))
    return cut


def _fill_record(
    attempts: tuple[AttemptRecord, ...], trace: Trace, room: Room
) -> tuple[tuple[AttemptRecord, ...], Trace]:
    """Return the newest attempts with their nodes, the older ones without, and then the newest trace events."""
    kept: list[AttemptRecord] = []
    for attempt in reversed(attempts):
        fitting = next(filter(room.holds, _whole_or_brief(attempt)), None)
        if fitting is None:
            break
        kept.append(fitting)
    bare = map(_without_nodes, attempts[: len(attempts) - len(kept)])
    return (*bare, *reversed(kept)), trace.last(room)


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
