"""Observations: what came of the calls of a step, read once in full, and cut for the prompt to a share of its room."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from activities.encodable import encodable
from activities.loop.shelf import Shelf
from activities.off_loop import off_loop
from activities.side_by_side import side_by_side
from harness.context_window import head_of, shares
from harness.conversation import Observation
from harness.errors import ErrorCode
from harness.grounding import figures_of
from harness.injection import find_injections
from harness.loop_calls import LOOP_INLINE_BYTES, CallResult
from harness.usage import estimate_tokens

_MOST_READ = 1_000_000
"""Characters of a result whose figures an answer may draw on: a model is shown much less of it."""
_ECHOES = frozenset({ErrorCode.UNKNOWN_TOOL, ErrorCode.MISSING_REQUIRED_ARGUMENT, ErrorCode.INVALID_ARGUMENT})
"""Errors that repeat what the model has written, which would otherwise make its own figures good."""


@dataclass(frozen=True)
class Outcome:
    """What came of a call, as a whole."""

    result: CallResult
    text: str
    tokens: int
    orders: tuple[str, ...]
    """Names of the injection patterns that the text hits."""
    figures: frozenset[str]
    """Those that an answer may draw on; not those of errors that quote the model's own arguments."""


async def outcomes_of(results: Sequence[CallResult], shelf: Shelf) -> list[Outcome]:
    """Return what came of calls, in their order, with what was too large to travel.

    Raises:
        ToolError: ARTIFACT_LOST or PROVIDER_UNAVAILABLE, as the store says.
    """
    loaded = await side_by_side(lambda result: _data_of(result, shelf), results)
    size = sum(len(data) or LOOP_INLINE_BYTES for data in loaded)
    return await off_loop(lambda: list(map(_read, results, loaded)), size=size)


def observed(outcomes: Sequence[Outcome], room: int) -> tuple[Observation, ...]:
    """Return outcomes as the model is shown them: together they take no more tokens than a room has."""
    given = shares([outcome.tokens for outcome in outcomes], room)
    return tuple(map(_observation, outcomes, given))


def as_text(value: JsonValue) -> str:
    """Return a value as a model reads it: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _data_of(result: CallResult, shelf: Shelf) -> bytes:
    return await shelf.bytes_of(result.artifact.digest) if result.artifact else b""


def _read(result: CallResult, data: bytes) -> Outcome:
    value = result.message if result.code else json.loads(data) if data else result.value
    text = encodable(as_text(value))
    figures = frozenset[str]() if result.code in _ECHOES else figures_of(text[:_MOST_READ])
    return Outcome(result, text, estimate_tokens(text), find_injections(text), figures)


def _observation(outcome: Outcome, tokens: int) -> Observation:
    result, text = outcome.result, head_of(outcome.text, tokens)
    return Observation(
        id=result.id,
        tool=result.tool,
        text=text,
        code=result.code,
        size=len(outcome.text),
        digest=result.artifact.digest if result.artifact else "",
        orders=outcome.orders,
    )
