"""The conversation of an agent loop: its steps, a summary of those that were too old to keep, and the figures seen.

A turn holds the calls of a step together with what came of them, so that no rule can part the two.
"""

from pydantic import BaseModel, ConfigDict, Field

from harness.errors import ErrorCode
from harness.usage import estimate_tokens

MAX_TURNS = 200
"""Turns that are kept; older ones live on as lines of the record."""
RECORD_HEAD = 10
RECORD_LINES = 40
"""Lines that the record keeps: the first ones, where the work began, and the newest."""
LINE_CHARS = 200
"""Characters of a line of the record."""
GIST_CHARS = 120
"""Characters that stay of a dropped output."""
_FENCE_TOKENS = 40
"""Of a fence, and of the message that it is in."""
_REMARK_TOKENS = 55
"""Of what the harness says of an output: that it is cut, that it failed, that it gives orders."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Said(_Part):
    """A call as the model made it, with placeholders for private values."""

    id: str
    tool: str
    arguments: str
    """A JSON object, shortened where it was long."""


class Observation(_Part):
    """What came of a call, as the model sees it."""

    id: str
    tool: str
    text: str
    """The result or the error message, shortened where it was long; only its beginning once it was dropped."""
    code: ErrorCode | None = None
    """Set when the call failed or was refused."""
    size: int = 0
    """Characters of the whole text."""
    digest: str = ""
    """The artifact that has the whole result; empty when there is none."""
    orders: tuple[str, ...] = ()
    """Names of the injection patterns that the whole text hits."""
    is_dropped: bool = False

    @property
    def tokens(self) -> int:
        """Estimate what it takes in a prompt."""
        said_of_it = _REMARK_TOKENS * (bool(self.is_dropped or self.digest) + bool(self.orders) + bool(self.code))
        return estimate_tokens(self.text) + _FENCE_TOKENS + said_of_it


class Turn(_Part):
    """One step: what the model was told before it, what it said, what it called, and what came of that."""

    step: int
    notes: tuple[str, ...] = ()
    """What the harness told the model before this step."""
    text: str = ""
    calls: tuple[Said, ...] = ()
    observations: tuple[Observation, ...] = ()
    """Of the calls; none before they have ended."""

    @property
    def tokens(self) -> int:
        """Estimate what it takes in a prompt."""
        told = sum(estimate_tokens(note) for note in self.notes)
        called = sum(estimate_tokens(call.arguments) + estimate_tokens(call.tool) for call in self.calls)
        return told + called + estimate_tokens(self.text) + sum(each.tokens for each in self.observations)


class Evidence(_Part):
    """The figures of all results, whether they are still in view or not."""

    open: tuple[str, ...] = ()
    """Those that are in no block yet, sorted."""
    blocks: tuple[str, ...] = ()
    """Digests of blocks in the artifact store, which name further ones."""


class Conversation(_Part):
    """An agent loop's conversation so far."""

    summary: str = ""
    """What a model made of older steps; empty when there is no summary."""
    record: tuple[str, ...] = ()
    """The calls of older steps with how their results begin, a line each."""
    summarised_steps: int = 0
    """Steps that summary and record stand for."""
    turns: tuple[Turn, ...] = ()
    evidence: Evidence = Field(default_factory=Evidence)
    squeezes: int = 0
    """How often the room for results was halved, because a model could take less than its limits say."""

    @property
    def tokens(self) -> int:
        """Estimate what the turns take in a prompt; the summary is part of the text before them."""
        return sum(turn.tokens for turn in self.turns)

    def observed(self, observations: tuple[Observation, ...]) -> "Conversation":
        """Add what came of the newest step's calls; a call of which nothing came is said to have no result."""
        if not self.turns:
            return self
        *older, newest = self.turns
        found = {each.id: each for each in observations}
        shown = tuple(found.get(call.id) or _lost(call) for call in newest.calls)
        return self.model_copy(update={"turns": (*older, newest.model_copy(update={"observations": shown}))})

    def said(self, turn: Turn) -> "Conversation":
        """Add a turn; the oldest one goes to the record when there are too many."""
        return self.model_copy(update={"turns": (*self.turns, turn)}).without_oldest(len(self.turns) + 1 - MAX_TURNS)

    def without_oldest(self, count: int) -> "Conversation":
        """Move the oldest turns to the record."""
        if count <= 0:
            return self
        lines = (*self.record, *(line for turn in self.turns[:count] for line in lines_of(turn)))
        kept = lines if len(lines) <= RECORD_LINES else (*lines[:RECORD_HEAD], *lines[RECORD_HEAD - RECORD_LINES :])
        done = self.summarised_steps + count
        return self.model_copy(update={"turns": self.turns[count:], "record": kept, "summarised_steps": done})

    def with_record_within(self, tokens: int) -> "Conversation":
        """Leave lines of the record out of its first half until it takes so many tokens; the first one always stays."""
        lines = list(self.record)
        excess = sum(map(estimate_tokens, lines)) - tokens
        while excess > 0 and len(lines) > 1:
            excess -= estimate_tokens(lines.pop((len(lines) + 3) // 4))
        return self.model_copy(update={"record": tuple(lines)})


def lines_of(turn: Turn) -> tuple[str, ...]:
    """Return a turn in short, a line for each call; what the model said alone when it called nothing."""
    found = {each.id: each for each in turn.observations}
    calls = [_line(turn.step, call, found.get(call.id)) for call in turn.calls]
    return tuple(calls) or (_one_line(f"step {turn.step}: said {turn.text}"),)


def dropped(observation: Observation) -> Observation:
    """Return what stays of an output that is dropped: how it begins."""
    gist = observation.text[:GIST_CHARS]
    return observation.model_copy(update={"text": gist, "digest": "", "is_dropped": True})


def _lost(call: Said) -> Observation:
    return Observation(id=call.id, tool=call.tool, text="there is no result of this call", code=ErrorCode.INTERNAL)


def _line(step: int, call: Said, observation: Observation | None) -> str:
    outcome = "no result yet" if observation is None else observation.text
    failed = f"{observation.code}: " if observation is not None and observation.code else ""
    return _one_line(f"step {step}: {call.tool}({call.arguments[:GIST_CHARS]}) -> {failed}{outcome}")


def _one_line(text: str) -> str:
    line = " ".join(text[: 2 * LINE_CHARS].split())
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}..."
