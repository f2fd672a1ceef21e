"""Preferences: what a text says that a player wants, does not want, and can pay."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from activities.model.offline_prices import PriceWish, read_price_wish
from activities.model.offline_traits import TRAITS, Trait, genre_pattern, word_trait

_CLAUSE_END = re.compile(
    r"[.,;:!?()\n\u2014]|\s[-\u2013]\s|\b(?:but|although|though|however|just|yet)\b", re.IGNORECASE
)
_NEUTRAL = re.compile(
    r"\b(?:(?:do|does)(?:n['\u2019]?t| not) mind|no problem with|(?:ok|okay|fine) with|not only|not just)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"(?:(?:\b(?:do|does|did|ca|wo|would|is|are|should|must)n['\u2019]?t|\b(?:not|cannot|never|dont|cant)\b)"
    r"(?:\s+(?:really|to|be|want|like|need|enjoy|stand|have|feel|care|for|too|so|very|anything|a|any|about|get|in|the"
    r"|mood))*"
    r"|\b(?:no|nothing|none|nor|neither|without|avoid\w*|hate\w*|dislike\w*|except|zero|less|fewer|rather than|skip"
    r"|instead of|tired of|sick of|free (?:of|from)|low|little|non|anti)\b)",
    re.IGNORECASE,
)
_FRESH_START = re.compile(
    r"\b(?:with|for|that|where|want|wants|prefer\w*|like|love|need|i|is|are|has|have|something|more)\b", re.IGNORECASE
)
_AND = re.compile(r"\band\b|&|\+", re.IGNORECASE)
_FREE_OF_IT = re.compile(r"[- ]free\b", re.IGNORECASE)
_LIST_OF_WORDS = re.compile(
    r"\s*(?:[\w-]+(?:\s*,\s*(?:and |or )?|\s+and\s+|\s+or\s+|\s*&\s*))*(?:too |so |very |any )?", re.IGNORECASE
)
"""What may stand between a "no" and the last word of its list."""
_REACH_WORDS = 6
"""How many words a "no" reaches."""
_PLAYED = re.compile(
    r"\b(?:played|finished|completed|own|have|bored of|tired of|except|besides|other than|not|no|without|than)\b"
    r"[^.;!?\n]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Preferences:
    """A wish in terms of the catalogue."""

    wanted: tuple[Trait, ...] = ()
    unwanted: tuple[Trait, ...] = ()
    genres: tuple[str, ...] = ()
    """Genres that were asked for; any of them will do."""
    unwanted_genres: tuple[str, ...] = ()
    unwanted_titles: tuple[str, ...] = ()
    """Games that the player has had enough of."""
    liked_titles: tuple[str, ...] = ()
    price: PriceWish = field(default_factory=PriceWish)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing at all was recognised."""
        return self == Preferences()

    def describe(self) -> str:
        """Return the wish as it was understood."""
        parts = [*(f"{genre} games" for genre in self.genres), *(trait.name for trait in self.wanted)]
        parts += [f"something like {title}" for title in self.liked_titles]
        unwanted = [*(f"{genre} games" for genre in self.unwanted_genres), *(trait.name for trait in self.unwanted)]
        unwanted += self.unwanted_titles
        refused = f"not wanted: {', '.join(unwanted)}" if unwanted else ""
        return "; ".join(filter(None, [", ".join(parts), refused, ", ".join(self.price.describe())]))


def read_preferences(text: str, *, genres: Iterable[str], titles: Iterable[str], tags: Iterable[str]) -> Preferences:
    """Read a wish. Genres, titles and tags are those of the catalogue: they are words a wish may use."""
    text = re.sub(r"\banything but\b", "no", text, flags=re.IGNORECASE)
    text = re.sub(r"\bnon-(\w+)", r"no \1,", text, flags=re.IGNORECASE)
    liked, had_enough = _titles(text, titles)
    for title in (*liked, *had_enough):
        text = re.sub(re.escape(title), "that one", text, flags=re.IGNORECASE)
    traits = (*TRAITS, *(word_trait(tag) for tag in dict.fromkeys(tags) if not _is_known(tag)))
    wanted, unwanted = _sides([_Term(trait, trait.asked, trait.is_burden) for trait in traits], text)
    likes, dislikes = _sides([_Term(genre, genre_pattern(genre)) for genre in dict.fromkeys(genres)], text)
    return Preferences(
        wanted=tuple(wanted),
        unwanted=tuple(unwanted),
        genres=tuple(likes),
        unwanted_genres=tuple(dislikes),
        unwanted_titles=tuple(had_enough),
        liked_titles=tuple(liked),
        price=read_price_wish(text),
    )


Meaning = TypeVar("Meaning")


@dataclass(frozen=True)
class _Term(Generic[Meaning]):
    meaning: Meaning
    pattern: re.Pattern[str]
    is_burden: bool = False


def _titles(text: str, titles: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the games that a wish names, and those that it names as known or unwanted."""
    liked: list[str] = []
    had_enough: list[str] = []
    for title in titles:
        match = re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text, re.IGNORECASE)
        if match:
            (had_enough if _PLAYED.search(text[: match.start()]) else liked).append(title)
    return liked, had_enough


def _is_known(tag: str) -> bool:
    return any(trait.asked.search(tag) or trait.shown.search(tag) for trait in TRAITS)


def _sides(terms: Iterable[_Term[Meaning]], text: str) -> tuple[list[Meaning], list[Meaning]]:
    """Sort what a text speaks of into wanted and unwanted; the last mention counts."""
    wanted: list[Meaning] = []
    unwanted: list[Meaning] = []
    for term in terms:
        mentions = [m for m in term.pattern.finditer(text) if not _is_neutral(text, m.start())]
        if mentions:
            is_refused = _is_refused(text, mentions[-1], is_burden=term.is_burden)
            (unwanted if is_refused else wanted).append(term.meaning)
    return wanted, unwanted


def _is_neutral(text: str, start: int) -> bool:
    return _NEUTRAL.search(_clause_before(text, start)) is not None


def _is_refused(text: str, mention: re.Match[str], *, is_burden: bool) -> bool:
    """Return whether a "no" reaches a mention. Every mention in a list of burdens is reached: "no combat, stress"."""
    if _FREE_OF_IT.match(text, mention.end()):
        return True
    before = text[: mention.start()]
    negations = list(_NEGATION.finditer(before))
    if not negations:
        return False
    between = before[negations[-1].end() :]
    if is_burden and _LIST_OF_WORDS.fullmatch(between):
        return True
    if _CLAUSE_END.search(between) or len(between.split()) > _REACH_WORDS:
        return False
    return not _FRESH_START.search(between) and not _AND.search(between)


def _clause_before(text: str, start: int) -> str:
    ends = [match.end() for match in _CLAUSE_END.finditer(text, 0, start)]
    return text[ends[-1] if ends else 0 : start]
