"""The memory of a run: facts that the model keeps by name, apart from the conversation, whose old parts are dropped."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from harness.catalog import JsonSchema, ToolSpec
from harness.errors import ErrorCode, ToolError, listed, quoted
from harness.usage import estimate_tokens

REMEMBER = "remember"
RECALL = "recall"
MAX_FACTS = 50
MAX_KEY_CHARS = 100
MAX_VALUE_CHARS = 2000
MAX_FACTS_TOKENS = 2000
"""Tokens of all facts together: a quarter of what a prompt has room for by default."""
MAX_TRIES = 5
"""Of a call of the memory: what it may meet is a store that does not answer."""

_KEY: JsonSchema = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS}
_VALUE: JsonSchema = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARS}

MEMORY_TOOLS = (
    ToolSpec(
        name=REMEMBER,
        description=(
            "Keep a fact under a name for the rest of this work: results of tools are dropped from view in time, facts "
            f"are not. A name that is there already gets the new value. At most {MAX_FACTS} facts."
        ),
        parameters={
            "type": "object",
            "properties": {
                "key": {**_KEY, "description": "Short name of the fact."},
                "value": {**_VALUE, "description": "The fact, as text."},
            },
            "required": ["key", "value"],
            "additionalProperties": False,
        },
        result={"type": "string"},
        max_tries=MAX_TRIES,
    ),
    ToolSpec(
        name=RECALL,
        description="Return a fact that was kept with remember.",
        parameters={
            "type": "object",
            "properties": {"key": {**_KEY, "description": "Name of the fact."}},
            "required": ["key"],
            "additionalProperties": False,
        },
        result={"type": "string"},
        max_tries=MAX_TRIES,
    ),
)
"""Tools that every agent loop has beside those of its catalog."""
MEMORY_NAMES = frozenset({REMEMBER, RECALL})
"""No tool of a catalog may have these names in an agent loop."""


@dataclass(frozen=True)
class Remembered:
    """What came of remembering a fact."""

    facts: dict[str, str]
    told: str
    is_new: bool
    """True when a fact was added or changed."""


def remember(facts: Mapping[str, str], arguments: Mapping[str, JsonValue]) -> Remembered:
    """Return facts with one more, or one changed.

    Raises:
        ToolError: INVALID_ARGUMENT when it cannot be kept; the message says what would be right.
    """
    key = _text(arguments, "key", MAX_KEY_CHARS)
    value = _text(arguments, "value", MAX_VALUE_CHARS)
    if key not in facts and len(facts) >= MAX_FACTS:
        raise _wrong(f"{MAX_FACTS} facts are kept already; give one of them a new value: {listed(facts, MAX_FACTS)}")
    kept = {**facts, key: value}
    tokens = sum(estimate_tokens(f"{name}{text}") for name, text in kept.items())
    if tokens > MAX_FACTS_TOKENS and tokens > sum(estimate_tokens(f"{name}{text}") for name, text in facts.items()):
        raise _wrong(
            f"the facts would have about {tokens:,} tokens, the limit is {MAX_FACTS_TOKENS:,}, because they are in "
            "each prompt; keep a shorter text, or give a fact that is not needed any more a short one"
        )
    is_new = facts.get(key) != value
    return Remembered(kept, f"remembered {quoted(key)}", is_new)


def recall(facts: Mapping[str, str], arguments: Mapping[str, JsonValue]) -> str:
    """Return a fact.

    Raises:
        ToolError: INVALID_ARGUMENT when there is none of that name; the message lists those that there are.
    """
    key = _text(arguments, "key", MAX_KEY_CHARS)
    if key not in facts:
        raise _wrong(f"no fact is kept as {quoted(key)}; kept are: {listed(facts, MAX_FACTS)}")
    return facts[key]


def _text(arguments: Mapping[str, JsonValue], name: str, limit: int) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(f"argument {name!r} must be a text that is not empty")
    if len(value) > limit:
        raise _wrong(f"argument {name!r} has {len(value):,} characters, the limit is {limit:,}; shorten it")
    return value


def _wrong(message: str) -> ToolError:
    return ToolError(ErrorCode.INVALID_ARGUMENT, message)
