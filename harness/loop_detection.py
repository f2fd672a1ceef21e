"""Loop detection: calls that give the same again and again, and steps that give nothing new."""

import hashlib
import json
from dataclasses import dataclass, field

from pydantic import JsonValue

from harness.loop_calls import CallResult, ToolCall

LEAST_STEPS = 12
"""Steps in which repeated calls are counted, at least; with a high limit they are twice as many as the limit."""
MOST_CALLS = 240
"""Calls that are kept for that."""
MOST_SEEN = 1000
"""Results that are known as seen; older ones would count as new again."""
_CALL_DIGITS = 12
_SEEN_DIGITS = 8


def call_key(call: ToolCall, result: CallResult, digest: str) -> str:
    """Return what two calls share when they are the same call with the same outcome.

    That is the tool, the arguments whatever their order and the way of their numbers, and the digest of the result or
    the error.
    """
    outcome = ["result", digest] if result.code is None else ["error", result.code, result.message]
    return _digest([call.tool, canonical(call.arguments), call.problem, outcome])[:_CALL_DIGITS]


@dataclass
class RepeatedCalls:
    """Counts in how many of the recent steps a call has come out the same."""

    steps: list[str] = field(default_factory=list)
    """Keys of the calls of each step, with spaces between: that is how they are carried."""

    def begin_step(self, repeat_limit: int) -> None:
        """Let calls from here on belong to another step."""
        self.steps.append("")
        del self.steps[: -max(LEAST_STEPS, 2 * repeat_limit)]
        while sum(map(len, self.steps)) > MOST_CALLS * (_CALL_DIGITS + 1):
            del self.steps[0]

    def count(self, key: str) -> int:
        """Note a call and return in how many steps it was; 0 when it was in this one already.

        The model has seen no result between the calls of one step, so they are no repetition.
        """
        if key in self.steps[-1]:
            return 0
        self.steps[-1] += f"{key} "
        return sum(key in step for step in self.steps)


@dataclass
class Progress:
    """Counts the steps in a row that gave no new result and no new fact."""

    idle_steps: int = 0
    is_fruitful: bool = False
    """Whether the step under way has given something new."""
    seen: str = ""
    """Keys of results, the newest last, each with a space behind it."""

    def note_result(self, tool: str, digest: str) -> None:
        """Take a result into account; one that comes again is remembered for longer."""
        key = f"{_digest([tool, digest])[:_SEEN_DIGITS]} "
        self.is_fruitful = self.is_fruitful or key not in self.seen
        self.seen = (self.seen.replace(key, "") + key)[-MOST_SEEN * len(key) :]

    def end_step(self) -> None:
        """Count the step that ends here."""
        self.idle_steps = 0 if self.is_fruitful else self.idle_steps + 1
        self.is_fruitful = False


def canonical(value: JsonValue) -> JsonValue:
    """Return a value whose numbers are written in one way: 1.0 is 1."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: canonical(each) for name, each in value.items()}
        case list():
            return [canonical(each) for each in value]
        case _:
            return value


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
