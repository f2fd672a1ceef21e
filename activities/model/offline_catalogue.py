"""The games catalogue as a prompt gives it, and how well each game answers a wish."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pydantic import JsonValue

from activities.model.offline_traits import Trait
from activities.model.preferences import Preferences


@dataclass(frozen=True)
class Evidence:
    """Something the data says about a game."""

    text: str
    source: str
    is_own: bool
    """True for what is said of the game itself, False for what is said of its genre."""


@dataclass(frozen=True)
class Game:
    """One game with everything that the prompt says about it."""

    title: str
    genre: str
    tags: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    criticism: tuple[str, ...]
    price: Decimal | None
    currency: str

    @property
    def price_text(self) -> str:
        """Return the price as the tools give it."""
        return "price not given" if self.price is None else f"{self.price} {self.currency}"


@dataclass(frozen=True)
class Match:
    """How a game answers a wish."""

    game: Game
    reasons: tuple[str, ...]
    obstacles: tuple[str, ...]
    """Why it does not fit; empty when it does."""
    price_gap: Decimal
    score: int

    @property
    def fits(self) -> bool:
        """Return whether nothing speaks against the game."""
        return not self.obstacles


def read_games(texts: Mapping[str, str]) -> tuple[Game, ...]:
    """Read the games from the fenced texts of a prompt; rows that make no sense are left out."""
    facts = {_text(row, "genre").lower(): row for row in _rows(texts.get("genre_facts", ""))}
    reviews = {_text(row, "genre").lower(): row for row in _rows(texts.get("genre_reviews", ""))}
    prices = {_text(row, "title"): row for row in _rows(texts.get("prices", ""))}
    games = []
    for row in _rows(texts.get("games", "")):
        title, genre = _text(row, "title"), _text(row, "genre")
        if title:
            price = prices.get(title, {})
            fact, review = facts.get(genre.lower(), {}), reviews.get(genre.lower(), {})
            games.append(
                Game(
                    title=title,
                    genre=genre,
                    tags=(*_texts(row, "tags"), *_texts(fact, "focus")),
                    evidence=tuple(_evidence(genre, row, fact, review)),
                    criticism=_texts(review, "negatives"),
                    price=_price(price),
                    currency=_text(price, "currency") or "USD",
                )
            )
    return tuple(games)


def judge(game: Game, wish: Preferences, impossible: tuple[Trait, ...]) -> Match:
    """Weigh a game against a wish. `impossible` are wanted traits that no game shows."""
    reasons, obstacles, score = _wanted(game, wish, impossible)
    for trait in wish.unwanted:
        shown, opposite = _shown(game, trait), _denied(game, trait)
        if shown and not (opposite and opposite.is_own and not shown.is_own):
            obstacles.append(f"{_said(shown)} is not wanted")
        elif opposite:
            reasons.append(_said(opposite))
            score += 1
    obstacles += _genre_obstacles(game, wish)
    score += 3 * (game.genre in wish.genres) + 2 * (game.title in wish.liked_titles)
    return Match(
        game=game,
        reasons=tuple(dict.fromkeys(reasons)),
        obstacles=(*dict.fromkeys(obstacles), *_price_obstacles(game, wish)),
        price_gap=_gap(game, wish),
        score=score,
    )


def shown_by_any(games: tuple[Game, ...], trait: Trait) -> bool:
    """Return whether the data shows a trait in any game."""
    return any(_shown(game, trait) for game in games)


def _wanted(game: Game, wish: Preferences, impossible: tuple[Trait, ...]) -> tuple[list[str], list[str], int]:
    reasons, obstacles, score = [], [], 0
    unmet = [trait for trait in wish.wanted if trait not in impossible and not _shown(game, trait)]
    for trait in wish.wanted:
        shown, against = _shown(game, trait), _denied(game, trait)
        if against and not (shown and (shown.is_own or not against.is_own)):
            obstacles.append(f'{_said(against)} goes against "{trait.name}"')
        elif shown:
            reasons.append(_said(shown))
            score += 2 if shown.is_own else 1
    obstacles += [f"no game here is known for {trait.name}" for trait in impossible]
    if 2 * len(unmet) > len(wish.wanted) - len(impossible):
        silent = [f'"{trait.name}"' for trait in unmet if not _denied(game, trait)]
        obstacles += [f"nothing in its data shows {' or '.join(silent)}"] if silent else []
    return reasons, obstacles, score


def _genre_obstacles(game: Game, wish: Preferences) -> Iterator[str]:
    if wish.genres and game.genre not in wish.genres:
        yield f"it is {_article(game.genre)} game"
    if game.genre in wish.unwanted_genres:
        yield f"it is {_article(game.genre)} game"
    if game.title in wish.unwanted_titles:
        yield "you asked for something else"


def _price_obstacles(game: Game, wish: Preferences) -> Iterator[str]:
    if game.price is None and (wish.price.ceiling or wish.price.floor):
        yield "its price is not given"
    elif game.price is not None and wish.price.is_above(game.price):
        yield "it costs more than that"
    elif game.price is not None and wish.price.is_below(game.price):
        yield "it costs less than that"


def _gap(game: Game, wish: Preferences) -> Decimal:
    """Return by how much a price misses the range; 0 within it."""
    if game.price is None or wish.price.allows(game.price):
        return Decimal(0)
    bound = wish.price.ceiling if wish.price.is_above(game.price) else wish.price.floor
    return abs(game.price - bound.amount) if bound else Decimal(0)


def _shown(game: Game, trait: Trait) -> Evidence | None:
    return _best(e for e in game.evidence if trait.shown.search(e.text) and not e.text.lower().startswith("no "))


def _denied(game: Game, trait: Trait) -> Evidence | None:
    return _best(
        e
        for e in game.evidence
        if (trait.denied and trait.denied.search(e.text))
        or (e.text.lower().startswith("no ") and trait.shown.search(e.text))
    )


def _best(found: Iterator[Evidence]) -> Evidence | None:
    """Prefer what is said of the game itself."""
    return min(found, key=lambda evidence: not evidence.is_own, default=None)


def _said(evidence: Evidence) -> str:
    return f"{evidence.text} ({evidence.source})"


def _evidence(
    genre: str, game: Mapping[str, JsonValue], facts: Mapping[str, JsonValue], reviews: Mapping[str, JsonValue]
) -> Iterator[Evidence]:
    yield from (Evidence(tag, "tag", is_own=True) for tag in _texts(game, "tags"))
    yield from (Evidence(fact, "fact", is_own=True) for fact in _texts(game, "facts"))
    for key in ("pace", "complexity"):
        if value := _text(facts, key):
            yield Evidence(f"{value} {key}", f"{genre} games", is_own=False)
    yield from (Evidence(focus, f"a focus of {genre} games", is_own=False) for focus in _texts(facts, "focus"))
    yield from (Evidence(point, f"praised in {genre} games", is_own=False) for point in _texts(reviews, "positives"))
    yield from (Evidence(point, f"said of {genre} games", is_own=False) for point in _texts(reviews, "negatives"))


def _article(genre: str) -> str:
    return f"{'an' if genre[:1].lower() in 'aeio' or genre == 'RPG' else 'a'} {genre}"


def _rows(text: str) -> list[dict[str, JsonValue]]:
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _text(row: Mapping[str, JsonValue], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _texts(row: Mapping[str, JsonValue], key: str) -> tuple[str, ...]:
    value = row.get(key)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _price(row: Mapping[str, JsonValue]) -> Decimal | None:
    value = row.get("price")
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        return None
    return price if price.is_finite() else None
