"""When an agent loop's older steps are replaced by a summary."""

from dataclasses import dataclass

SUMMARY_PAUSE = 5
"""Steps without another try after a summary that failed or was not short enough."""


@dataclass
class ContextWatch:
    """The length of a loop's prompt, and what was tried against it."""

    tokens: int
    """Estimate of the next prompt without its new results."""
    hard_tokens: int
    has_conversation: bool = False
    """False before the first turn of the model, when there is nothing to summarise."""
    has_overflowed: bool = False
    """Whether the prompt of the step that is asked next was too long for the model already."""
    is_summary_due: bool = False
    """True after that, until a summary was tried."""
    not_before: int = 0
    """The step from which a summary may be tried again."""

    def needs_summary(self, step: int) -> bool:
        """Return whether a summary comes before that step."""
        is_full = self.tokens > self.hard_tokens and step >= self.not_before
        return self.has_conversation and (self.is_summary_due or is_full)

    def note_turn(self, tokens: int) -> None:
        """Take a turn of the model, and the length of the prompt after it."""
        self.has_conversation = True
        self.has_overflowed = False
        self.tokens = tokens

    def note_overflow(self) -> bool:
        """Take note that the prompt was too long for the model, and return whether a summary may help."""
        if self.has_overflowed or not self.has_conversation:
            return False
        self.has_overflowed = self.is_summary_due = True
        return True

    def note_summary(self, tokens: int, step: int) -> None:
        """Take the length of the prompt after a summary."""
        self.tokens = tokens
        self.is_summary_due = False
        if tokens > self.hard_tokens:
            self.pause(step)

    def pause(self, step: int) -> None:
        """Go on without a summary for some steps."""
        self.is_summary_due = False
        self.not_before = step + SUMMARY_PAUSE
