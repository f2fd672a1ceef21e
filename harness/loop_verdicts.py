"""What the counting of an agent loop leads to: nothing, a hint to the model, or the closing of the loop."""

from harness import loop_notes
from harness.errors import bounded
from harness.loop import LoopStatus
from harness.loop_calls import CallResult
from harness.loop_effects import Closing, Hinted
from harness.loop_options import LoopOptions

MAX_REASON_CHARS = 300
_LEAST_FOR_HINT = 2


def closing_of(status: LoopStatus, reason: str) -> Closing:
    """Return a closing with its reason cut."""
    return Closing(status, bounded(reason, MAX_REASON_CHARS))


def judge_repeat(result: CallResult, times: int, limit: int) -> Closing | Hinted | None:
    """Judge a call that came out the same in so many steps: one fewer than the limit brings a hint, so many the end."""
    if times >= limit:
        return closing_of(LoopStatus.NO_PROGRESS, loop_notes.repeat_reason(result, times))
    if times == limit - 1 and times >= _LEAST_FOR_HINT:
        return Hinted(loop_notes.repeat_hint(result, times))
    return None


def judge_idleness(idle_steps: int, options: LoopOptions) -> Closing | None:
    """Judge so many steps in a row without anything new."""
    if idle_steps < options.no_progress_steps:
        return None
    return closing_of(LoopStatus.NO_PROGRESS, loop_notes.idle_reason(idle_steps))


def judge_steps(step: int, options: LoopOptions, status: LoopStatus) -> Closing | None:
    """Judge whether a step of this number may still be made; `status` is how a loop ends that may make no more."""
    return closing_of(status, loop_notes.steps_reason(options.max_steps)) if step > options.max_steps else None
