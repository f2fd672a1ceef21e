"""Data of the games toolkit. Source: harness-demo games scenario; the prices are made up."""

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

PriceUsd = Annotated[
    Decimal,
    Field(ge=0, decimal_places=2),
    # JSON text in both directions, so that the result of one tool fits the parameter of the next one exactly.
    WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d{1,2})?$"}),
]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class GenreFacts(_Row):
    """What games of a genre are like."""

    genre: str
    pace: str
    focus: tuple[str, ...]
    complexity: str


class GenreReviews(_Row):
    """What players praise and criticise in a genre."""

    genre: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


class GameInfo(_Row):
    """One game of the catalogue."""

    title: str
    genre: str
    tags: tuple[str, ...]
    facts: tuple[str, ...]


class GamePrice(_Row):
    """The price of one game."""

    title: str
    price: PriceUsd
    currency: str


GENRE_FACTS = (
    GenreFacts(genre="Adventure", pace="medium", focus=("exploration", "puzzles", "story"), complexity="low-medium"),
    GenreFacts(
        genre="RPG",
        pace="medium",
        focus=("story", "choices", "progression", "exploration"),
        complexity="medium-high",
    ),
    GenreFacts(genre="Cozy", pace="slow", focus=("relaxation", "collecting", "creativity"), complexity="low"),
    GenreFacts(genre="Strategy", pace="slow-medium", focus=("planning", "systems", "optimization"), complexity="high"),
    GenreFacts(genre="Action", pace="fast", focus=("reflexes", "combat", "challenge"), complexity="medium"),
)

GENRE_REVIEWS = (
    GenreReviews(
        genre="Adventure",
        positives=("accessible", "narrative-driven", "good exploration"),
        negatives=("can be short", "puzzle pacing varies"),
    ),
    GenreReviews(
        genre="RPG",
        positives=("immersive stories", "deep choices", "long-term progression"),
        negatives=("can be complex", "often time-consuming"),
    ),
    GenreReviews(
        genre="Cozy",
        positives=("relaxing", "low pressure", "good for short sessions"),
        negatives=("can feel repetitive",),
    ),
    GenreReviews(
        genre="Strategy", positives=("deep decisions", "high replayability"), negatives=("steep learning curve",)
    ),
    GenreReviews(
        genre="Action",
        positives=("immediate feedback", "high energy", "skill expression"),
        negatives=("can be stressful", "reaction-heavy"),
    ),
)

GAMES = (
    GameInfo(
        title="Outer Wilds",
        genre="Adventure",
        tags=("exploration", "mystery", "story", "relaxed"),
        facts=("space exploration", "knowledge-based progression", "no combat"),
    ),
    GameInfo(
        title="Stardew Valley",
        genre="Cozy",
        tags=("relaxed", "farming", "creativity", "management"),
        facts=("farming sim", "relationships", "crafting", "open-ended play"),
    ),
    GameInfo(
        title="Baldur's Gate 3",
        genre="RPG",
        tags=("story", "choices", "tactics", "fantasy"),
        facts=("party RPG", "branching story", "tactical combat"),
    ),
    GameInfo(
        title="Civilization VI",
        genre="Strategy",
        tags=("planning", "systems", "replayability"),
        facts=("turn-based empire building", "long sessions", "many viable strategies"),
    ),
    GameInfo(
        title="Hades",
        genre="Action",
        tags=("combat", "challenge", "story", "fast"),
        facts=("fast action", "repeated runs", "strong writing"),
    ),
)

PRICES = (
    GamePrice(title="Outer Wilds", price=Decimal("24.99"), currency="USD"),
    GamePrice(title="Stardew Valley", price=Decimal("14.99"), currency="USD"),
    GamePrice(title="Baldur's Gate 3", price=Decimal("59.99"), currency="USD"),
    GamePrice(title="Civilization VI", price=Decimal("29.99"), currency="USD"),
    GamePrice(title="Hades", price=Decimal("24.99"), currency="USD"),
)
