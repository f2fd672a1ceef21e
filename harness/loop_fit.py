"""How what an agent loop answers and returns stays under what one message can hold, whatever the size of its parts."""

from harness.encoded import Encoded, encoded_whole, encoded_within
from harness.errors import bounded
from harness.loop import LoopResult, LoopView
from harness.message_fit import MAX_ANSWER_BYTES, MAX_RESULT_BYTES, fill_report
from harness.trace_log import NO_EVENTS
from harness.wire_size import Room, encoded_size

_MAX_TEXT = 10_000
"""Characters that are kept of the error of a result that does not fit whole."""


def fit_loop_result(result: LoopResult, limit: int = MAX_RESULT_BYTES) -> LoopResult:
    """Return the result within the limit: the newest steps, then the newest events; what is lost is counted."""
    return _cut(result, limit) if encoded_within(result, limit) is None else result


def encode_loop_result(result: LoopResult, limit: int = MAX_RESULT_BYTES) -> Encoded:
    """Return the result encoded within the limit, cut as `fit_loop_result` does where it must be."""
    return encoded_within(result, limit) or encoded_whole(_cut(result, limit))


def _cut(result: LoopResult, limit: int) -> LoopResult:
    least = result.model_copy(
        update={
            "report": None,
            "error": None if result.error is None else bounded(result.error, _MAX_TEXT),
            "steps": (),
            "steps_dropped": result.steps_dropped + len(result.steps),
            "trace": NO_EVENTS,
            "trace_dropped": result.trace_dropped + len(result.trace),
        }
    )
    room = Room(limit - encoded_size(least))
    report = fill_report(result.report, room)
    steps = room.last(result.steps)
    trace = result.trace.last(room)
    return least.model_copy(
        update={
            "report": report,
            "steps": steps,
            "steps_dropped": least.steps_dropped - len(steps),
            "trace": trace,
            "trace_dropped": least.trace_dropped - len(trace),
        }
    )


def fit_loop_view(view: LoopView, limit: int = MAX_ANSWER_BYTES) -> LoopView:
    """Return the view within the limit, with the newest of its steps that fit."""
    least = view.model_copy(update={"steps": ()})
    return least.model_copy(update={"steps": Room(limit - encoded_size(least)).last(view.steps)})
