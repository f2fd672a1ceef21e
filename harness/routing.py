"""Routing by rule: tools as they are offered for picking, and the pick by the words that they share with a goal."""

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from harness.catalog import ToolSpec

MAX_SUMMARY_CHARS = 200
_MAX_READ_CHARS = 2000
_NAME_WEIGHT = 2
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY_WORDS = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "by", "do", "for", "from", "get", "how", "i", "in", "into", "is"),
        *("it", "its", "me", "my", "of", "on", "or", "that", "the", "this", "to", "tool", "use", "what", "which"),
        *("with", "you"),
    }
)


class Offer(BaseModel):
    """A tool as it is offered for picking."""

    model_config = ConfigDict(frozen=True)

    name: str
    toolkit: str = ""
    summary: str = ""
    """First sentence of its description."""
    parameters: tuple[str, ...] = ()


def offer_of(tool: ToolSpec) -> Offer:
    """Return a tool as it is offered."""
    offer = {"name": tool.name, "toolkit": tool.toolkit, "summary": _first_sentence(tool.description)}
    known = {name: value for name, value in offer.items() if value}
    names = tuple(tool.parameter_schemas)
    return Offer.model_validate({**known, "parameters": names} if names else known)


def pick_by_rule(goal: str, offers: Sequence[Offer], most: int, *, has_failed: bool) -> tuple[str, ...]:
    """Pick by the words that goal and tool share, those of its name counting twice; equals in their order.

    Tools that share none are picked when there is no other, and after a failure: what was lacking may share none.
    """
    wanted = _words(goal)
    scores = {offer.name: _score(wanted, offer) for offer in offers}
    ranked = sorted(scores, key=lambda name: -scores[name])
    shared = [name for name in ranked if scores[name]]
    return tuple((ranked if has_failed or not shared else shared)[:most])


def _first_sentence(description: str) -> str:
    sentence = " ".join(_SENTENCE_END.split(description[:_MAX_READ_CHARS].strip(), maxsplit=1)[0].split())
    return sentence if len(sentence) <= MAX_SUMMARY_CHARS else f"{sentence[: MAX_SUMMARY_CHARS - 3]}..."


def _score(wanted: frozenset[str], offer: Offer) -> int:
    name = _words(offer.name)
    about = _words(" ".join((offer.toolkit, offer.summary, *offer.parameters)))
    return _NAME_WEIGHT * len(wanted & name) + len(wanted & (about - name))


def _words(text: str) -> frozenset[str]:
    """Return the words of a text that say something: in small letters, without a plural's ending."""
    words = (word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text)))
    return frozenset(_singular(word) for word in words if word not in _EMPTY_WORDS)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004 - "gas"
