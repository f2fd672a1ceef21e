"""What an agent loop may do: its steps, its context, and what counts as going round in circles."""

from pydantic import BaseModel, ConfigDict, Field, model_validator


class LoopOptions(BaseModel):
    """How an agent loop may work."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_steps: int = Field(default=20, ge=1, le=10_000)
    """Model calls that may ask for tools. A closing call, which may only answer, is not counted."""
    step_output_tokens: int = Field(default=1000, ge=1, le=200_000)
    """Most output tokens of one step."""
    soft_context_tokens: int = Field(default=8000, ge=100, le=10_000_000)
    """Over this, stale tool outputs are dropped from the prompt, oldest first."""
    hard_context_tokens: int = Field(default=12_000, ge=100, le=10_000_000)
    """Over this, older steps are replaced by a summary."""
    repeat_limit: int = Field(default=3, ge=2, le=100)
    """How often the same call may give the same result: one time fewer brings a hint, so often ends the loop."""
    no_progress_steps: int = Field(default=5, ge=1, le=1000)
    """Steps in a row without a new result or fact that end the loop."""
    max_failed_answers: int = Field(default=3, ge=1, le=100)
    """Answers in a row that are neither a call nor an answer, which end the loop."""

    @model_validator(mode="after")
    def _soft_is_below_hard(self) -> "LoopOptions":
        if self.soft_context_tokens > self.hard_context_tokens:
            raise ValueError(
                f"soft_context_tokens ({self.soft_context_tokens}) must not exceed "
                f"hard_context_tokens ({self.hard_context_tokens})"
            )
        return self
