"""The context window of an agent loop: what of its conversation the next prompt has room for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from harness.conversation import Conversation, Turn, dropped
from harness.usage import estimate_tokens

LEAST_OUTPUT_TOKENS = 50
"""A single output is shown that far, however many there are."""


@dataclass(frozen=True)
class Trimmed:
    """A conversation without its stale outputs."""

    conversation: Conversation
    dropped: int = 0
    """Outputs that were dropped just now."""


def room_for_outputs(soft_tokens: int, squeezes: int = 0) -> int:
    """Return the tokens that the newest step's outputs may take together: half of the soft limit, halved by squeezes.

    Args:
        soft_tokens: The soft limit of the whole prompt.
        squeezes: `Conversation.squeezes`.
    """
    return max(LEAST_OUTPUT_TOKENS, soft_tokens >> (1 + squeezes))


def room_for_turns(limit_tokens: int, base_tokens: int) -> int:
    """Return the tokens that turns may take: what the rest of a prompt leaves of a limit, but at least half of it.

    Without that half a loop with many tools, whose descriptions alone reach the limit, would remember nothing.

    Args:
        limit_tokens: The soft or the hard limit of the whole prompt.
        base_tokens: What the prompt takes without any turn.
    """
    return max(limit_tokens - base_tokens, limit_tokens // 2)


def shares(wanted: Sequence[int], room: int) -> tuple[int, ...]:
    """Share out a room: what wants little gets it, the others get equal parts of what is left.

    Args:
        wanted: Tokens that each output would take.
        room: Tokens that they may take together.
    """
    given = [0] * len(wanted)
    left, waiting = room, len(wanted)
    for index in sorted(range(len(wanted)), key=wanted.__getitem__):
        given[index] = max(min(wanted[index], left // waiting), min(wanted[index], LEAST_OUTPUT_TOKENS))
        left, waiting = max(0, left - given[index]), waiting - 1
    return tuple(given)


def head_of(text: str, tokens: int) -> str:
    """Return as much of the beginning of a text as is estimated to take so many tokens."""
    if estimate_tokens(text) <= tokens:
        return text
    quarters = 4 * max(0, tokens - estimate_tokens(""))
    if text.isascii():
        return text[:quarters]
    costs = accumulate(1 if char.isascii() else 4 for char in text)
    return text[: sum(1 for _ in takewhile(lambda cost: cost <= quarters, costs))]


def trimmed(conversation: Conversation, room: int) -> Trimmed:
    """Drop stale outputs, oldest first, until the turns fit; those of the newest step stay, whatever they take.

    Args:
        conversation: With the outputs of the newest step.
        room: Tokens that its turns may take.
    """
    excess, count = conversation.tokens - room, 0
    turns = list(conversation.turns)
    for index, turn in enumerate(turns[:-1]):
        if excess <= 0:
            break
        lighter, freed, gone = _lightened(turn, excess)
        turns[index], excess, count = lighter, excess - freed, count + gone
    return Trimmed(conversation.model_copy(update={"turns": tuple(turns)}), count) if count else Trimmed(conversation)


def in_view(conversation: Conversation, room: int) -> Conversation:
    """Return the conversation without its oldest turns, if it takes more than a room; the newest turn always stays.

    Args:
        conversation: The one that is kept, which may be too long for a prompt when no summary could be made.
        room: Tokens that its turns may take.
    """
    return conversation.without_oldest(len(conversation.turns) - _newest_that_fit(conversation, room))


def turns_to_summarise(conversation: Conversation, room: int) -> int:
    """Return how many of the oldest turns a summary must replace, so that the others fit; never the newest one."""
    return len(conversation.turns) - _newest_that_fit(conversation, room)


def _newest_that_fit(conversation: Conversation, room: int) -> int:
    sums = accumulate(turn.tokens for turn in reversed(conversation.turns))
    return max(sum(1 for total in sums if total <= room), min(1, len(conversation.turns)))


def _lightened(turn: Turn, excess: int) -> tuple[Turn, int, int]:
    """Return a turn with outputs dropped as far as is needed, the tokens that it frees, and how many were dropped."""
    observations, freed, count = list(turn.observations), 0, 0
    for index, observation in enumerate(observations):
        if freed >= excess or observation.is_dropped:
            continue
        lighter = dropped(observation)
        if (gain := observation.tokens - lighter.tokens) > 0:
            observations[index], freed, count = lighter, freed + gain, count + 1
    return turn.model_copy(update={"observations": tuple(observations)}), freed, count
