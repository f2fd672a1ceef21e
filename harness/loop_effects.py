"""What an agent loop does next, and what its rules have decided: values between AgentState and the workflow."""

from dataclasses import dataclass

from harness.errors import ErrorCode
from harness.loop import LoopStatus
from harness.loop_calls import CallResult, ToolCall


@dataclass(frozen=True)
class Ask:
    """Ask the model for the next step."""

    step: int
    """From 1. A closing call has the number after the last step; after a summary the same step is asked again."""
    results: tuple[CallResult, ...]
    """What came of the calls of the step before, refused ones included, in the order of the model."""
    notes: tuple[str, ...]
    """What the harness has to say to the model; `loop_notes.split_note` parts its words from results it repeats."""
    must_answer: bool
    """True for a closing call: no tools are offered."""


@dataclass(frozen=True)
class RunCalls:
    """Make the accepted calls of a step. Never empty; calls that have ended are left out."""

    step: int
    calls: tuple[ToolCall, ...]
    """In the order of the model."""


@dataclass(frozen=True)
class Summarise:
    """Have older steps replaced by a summary."""


@dataclass(frozen=True)
class End:
    """Stop: nothing more is asked or called."""

    status: LoopStatus
    reason: str
    """Why, in a line; empty when the model answered by itself."""
    answer: str | None
    """The model's answer; None when it gave none."""
    error_code: ErrorCode | None


Effect = Ask | RunCalls | Summarise | End


@dataclass(frozen=True)
class Refused:
    """A call that is not made; its result is in the next Ask."""

    call: ToolCall
    result: CallResult


@dataclass(frozen=True)
class Hinted:
    """What the model is told beside its results: that it repeats itself, or what was wrong with its answer."""

    text: str


@dataclass(frozen=True)
class Closing:
    """The loop may go on no further: the model is asked to answer with what there is."""

    status: LoopStatus
    reason: str


Told = tuple[Refused | Hinted | Closing, ...]
"""Decisions that belong in the trace, in their order."""
