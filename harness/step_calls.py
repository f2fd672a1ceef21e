"""The calls of an agent loop's newest step: those to be made, and what came of the others."""

from dataclasses import dataclass, field

from harness.loop_calls import CallResult, ToolCall


@dataclass
class StepCalls:
    """The newest step's calls, from the model's turn until it has seen their results."""

    order: tuple[str, ...] = ()
    """Ids of all of them, in the order of the model."""
    accepted: dict[str, ToolCall] = field(default_factory=dict)
    """Those that are to be made or under way."""
    ended: dict[str, CallResult] = field(default_factory=dict)
    """What came of those that have ended or were refused."""

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """Return the accepted calls that have not ended, in the order of the model."""
        return tuple(self.accepted[call_id] for call_id in self.order if call_id in self.accepted)

    @property
    def results(self) -> tuple[CallResult, ...]:
        """Return what is known, in the order of the model."""
        return tuple(self.ended[call_id] for call_id in self.order if call_id in self.ended)

    def accept(self, call: ToolCall) -> None:
        """Let a call be made."""
        self.accepted[call.id] = call

    def end(self, result: CallResult) -> ToolCall | None:
        """Take the outcome of an accepted call, and return that; None when it is not under way."""
        call = self.accepted.pop(result.id, None)
        if call is not None:
            self.ended[result.id] = result
        return call

    def refuse(self, result: CallResult) -> None:
        """Take the result of a call that is not made."""
        self.ended[result.id] = result
