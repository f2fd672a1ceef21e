"""The offline writer of game recommendations: by rules, from nothing but the data in the prompt."""

import re
from collections.abc import Mapping

from activities.model.offline_catalogue import Game, Match, judge, read_games, shown_by_any
from activities.model.preferences import Preferences, read_preferences

MOST_RECOMMENDATIONS = 3
MOST_REASONS = 4
MAX_QUOTE_CHARS = 160
OFFLINE_LINE = "Written by the offline model: by rules, without a language model."

_BAD_PICK = re.compile(
    r"\bfit|suit|unsuit|wrong|exclude|avoid|should not|must not|do not recommend|break|violat|not match|against",
    re.IGNORECASE,
)


def write_recommendation(texts: Mapping[str, str]) -> str:
    """Write the recommendation from the fenced texts of a prompt: preferences, data, feedback."""
    games = read_games(texts)
    wish_text = texts.get("preferences", "")
    feedback = texts.get("feedback", "")
    if not games:
        return f"Nothing fits: the data in the prompt holds no game that could be read.\n\n{OFFLINE_LINE}"
    wish = read_preferences(
        wish_text,
        genres=[game.genre for game in games],
        titles=[game.title for game in games],
        tags=[tag for game in games for tag in game.tags],
    )
    matches = _ranked(games, wish, _criticised(games, feedback))
    parts = [_opening(wish_text, wish, feedback=feedback), *_body(matches, wish), OFFLINE_LINE]
    return "\n\n".join(part for part in parts if part)


def _ranked(games: tuple[Game, ...], wish: Preferences, criticised: tuple[str, ...]) -> list[Match]:
    impossible = tuple(trait for trait in wish.wanted if not shown_by_any(games, trait))
    matches = [judge(game, wish, impossible) for game in games]

    def rank(match: Match) -> tuple[float, ...]:
        cheap_first = float(match.game.price or 0) if wish.price.is_cheap else 0.0
        is_criticised = match.game.title in criticised
        is_known = match.game.title in wish.unwanted_titles
        return (is_known, len(match.obstacles), is_criticised, float(match.price_gap), -match.score, cheap_first)

    return sorted(matches, key=rank)


def _criticised(games: tuple[Game, ...], feedback: str) -> tuple[str, ...]:
    """Return the games that the rejection of an earlier report speaks against."""
    sentences = re.split(r"[.;\n]", feedback)
    return tuple(
        game.title
        for game in games
        if any(game.title.lower() in part.lower() and _BAD_PICK.search(part) for part in sentences)
    )


def _opening(wish_text: str, wish: Preferences, *, feedback: str) -> str:
    quote = " ".join(wish_text.split())
    if len(quote) > MAX_QUOTE_CHARS:
        quote = f"{quote[:MAX_QUOTE_CHARS]} ..."
    lines = [f'For the wish "{quote}".']
    if wish.is_empty:
        lines.append("No particular preference was recognised in it, so these are games of different kinds.")
    else:
        lines.append(f"Understood as: {wish.describe()}.")
    if wish.price.foreign_currency:
        currency = wish.price.foreign_currency
        lines.append(f"Prices are in USD; the limit in {currency} was compared as it stands, without conversion.")
    if feedback:
        lines.append("An earlier report was rejected; this one gives no price but those of the price list.")
    return "\n".join(lines)


def _body(matches: list[Match], wish: Preferences) -> list[str]:
    fitting = [match for match in matches if match.fits]
    others = [match for match in matches if not match.fits]
    if not fitting:
        return [
            f"Nothing in the catalogue fits all of this.{_all_share(others)}",
            "What comes nearest, without fitting:",
            "\n".join(_nearest(match) for match in others[:2]),
        ]
    chosen = fitting[:MOST_RECOMMENDATIONS]
    listed = "\n".join(f"{number}. {_recommendation(m, wish)}" for number, m in enumerate(chosen, start=1))
    parts = [listed]
    if len(chosen) == 1:
        parts.insert(0, "Only one game in the catalogue fits:")
    if others:
        left_out = "; ".join(f"{m.game.title}, because {_joined(m.obstacles[:2])}" for m in others)
        parts.append(f"Not chosen: {left_out}.")
    return parts


def _all_share(others: list[Match]) -> str:
    """Name the obstacles that every game has: they are why nothing fits."""
    shared = [o for o in others[0].obstacles if all(o in match.obstacles for match in others)] if others else []
    return f" What rules out every game: {_joined(tuple(shared))}." if shared else ""


def _recommendation(match: Match, wish: Preferences) -> str:
    game = match.game
    extra = [word for word in _own_words(game) if not any(reason.startswith(word) for reason in match.reasons)]
    reasons = [*match.reasons, *extra][:MOST_REASONS]
    bound = wish.price.ceiling or wish.price.floor
    price = f"{game.price_text}, within the limit" if bound else game.price_text
    # What is wanted speaks for a game even where reviews list it as criticism.
    criticism = tuple(
        point for point in game.criticism if not any(reason.startswith(point) for reason in match.reasons)
    )
    drawback = f" Against it: {_joined(criticism)}." if criticism else ""
    return f"{game.title} ({game.genre}, {price}): {', '.join(reasons)}.{drawback}"


def _nearest(match: Match) -> str:
    game = match.game
    for_it = f" For it: {', '.join(match.reasons[:MOST_REASONS])}." if match.reasons else ""
    return f"- {game.title} ({game.genre}, {game.price_text}), but {_joined(match.obstacles)}.{for_it}"


def _own_words(game: Game) -> tuple[str, ...]:
    return tuple(evidence.text for evidence in game.evidence if evidence.is_own)[:MOST_REASONS]


def _joined(texts: tuple[str, ...]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)
