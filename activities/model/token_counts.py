"""Token counts: what a server says that a call used, under whichever names it says so."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openai.types.chat import ChatCompletion

MAX_COUNT = 100_000_000
"""More tokens than this are no count of one call, whatever a server says: ten times the longest context there is."""

_HOLDERS = (
    ("usage",),
    ("usageMetadata",),
    ("usage_metadata",),
    ("token_usage",),
    ("x_groq", "usage"),
    ("meta", "usage"),
)
"""Where counts are found, best first; after these the answer itself (Ollama's own API)."""
_INPUT = ("prompt_tokens", "input_tokens", "promptTokens", "inputTokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT = (
    "completion_tokens", "output_tokens", "completionTokens", "outputTokens", "candidatesTokenCount", "eval_count",
)  # fmt: skip
_TOTAL = ("total_tokens", "totalTokens", "totalTokenCount")
_DETAILS = (
    "prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details",
)  # fmt: skip
_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cachedContentTokenCount")
_REASONING = ("reasoning_tokens", "thoughtsTokenCount")


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of one call."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    """Among the input tokens."""
    reasoning_tokens: int = 0
    """Among the output tokens."""


@dataclass(frozen=True)
class Reported:
    """What a server reported; None where it did not, or reported what is no count."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0


def reported(completion: ChatCompletion) -> Reported:
    """Return the counts of the first place in an answer that has any."""
    sent = completion.to_dict(warnings=False)  # nobody has checked what is in it
    for holder in _holders(sent):
        prompt, output = _count(holder, _INPUT), _count(holder, _OUTPUT)
        if prompt is None and output is None:
            continue
        places = (holder, *(part for name in _DETAILS if isinstance(part := holder.get(name), Mapping)))
        cached = next((n for place in places if (n := _count(place, _CACHED)) is not None), 0)
        reasoning = next((n for place in places if (n := _count(place, _REASONING)) is not None), 0)
        if prompt is not None and output is not None and _count(holder, _TOTAL) == prompt + output + reasoning:
            output += reasoning  # some servers leave reasoning out of the output, but not out of the bill
        return Reported(prompt, output, cached, reasoning)
    return Reported()


def _holders(sent: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for path in _HOLDERS:
        place: Any = sent
        for name in path:
            place = place.get(name) if isinstance(place, Mapping) else None
        if isinstance(place, Mapping):
            yield place
    yield sent


def _count(holder: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = holder.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT:
            return value
    return None
