"""Writes of an agent loop: a call that has written is not made again, whatever the model asks for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from harness.binding import reuse_key
from harness.catalog import Effect, ToolSpec
from harness.errors import ErrorCode, quoted
from harness.loop_calls import CallResult, ToolCall
from harness.loop_detection import canonical

MOST_WRITES = 500
"""Writes that are known; with so many a loop writes no more, because it must not forget any."""
_DIGITS = 16


@dataclass
class MadeWrites:
    """Calls with an effect that were made or are under way, in this loop or before it in its run."""

    keys: list[str] = field(default_factory=list)
    """A write_key of each."""

    def begin(self, call: ToolCall, tool: ToolSpec) -> CallResult | None:
        """Take note of a call that is about to be made; return why it must not be."""
        if tool.effect is Effect.READ:
            return None
        key = write_key(tool, call.arguments)
        if key in self.keys:
            message = (
                f"this call of {quoted(call.tool)} with these arguments was made before in this run, by you or by an "
                "earlier part of it, and is not repeated, because it writes; go on with what came of it then"
            )
            return CallResult(id=call.id, tool=call.tool, code=ErrorCode.INVALID_ARGUMENT, message=message)
        if len(self.keys) >= MOST_WRITES:
            message = f"this run has made {MOST_WRITES} calls that write, and may make no more; only read, or answer"
            return CallResult(id=call.id, tool=call.tool, code=ErrorCode.QUOTA_EXHAUSTED, message=message)
        self.keys = [*self.keys, key]
        return None

    def forget(self, call: ToolCall, tool: ToolSpec) -> None:
        """Allow a call again that surely wrote nothing."""
        key = write_key(tool, call.arguments)
        self.keys = [each for each in self.keys if each != key]


def write_key(tool: ToolSpec, arguments: Mapping[str, JsonValue]) -> str:
    """Return what equal calls share: the beginning of the key under which a plan knows the result of such a node."""
    return _short(reuse_key(tool, {name: canonical(value) for name, value in arguments.items()}))


def known_writes(agent_writes: Iterable[str], reuse_keys: Iterable[str]) -> tuple[str, ...]:
    """Return what an agent is told of the writes before it, as many as it can take.

    Args:
        agent_writes: Keys of what other agents have written.
        reuse_keys: Keys of what nodes have written.
    """
    return tuple(dict.fromkeys((*agent_writes, *map(_short, reuse_keys))))[:MOST_WRITES]


def _short(key: str) -> str:
    return key[:_DIGITS]
