"""The games toolkit: which video game suits a wish."""

from datetime import timedelta

from pydantic import TypeAdapter

from activities.model.request import ModelRequest
from activities.prompts import FENCE_RULE, fenced, fenced_json
from activities.toolkit import MODEL_TOOL_TIMEOUT, Report, ToolContext, Toolkit, tool
from activities.toolkits.games_check import check_report
from activities.toolkits.games_data import (
    GAMES,
    GENRE_FACTS,
    GENRE_REVIEWS,
    PRICES,
    GameInfo,
    GamePrice,
    GenreFacts,
    GenreReviews,
)
from harness.catalog import ToolRole
from harness.errors import ErrorCode, ToolError
from harness.model_choice import ModelRole

MAX_REPORT_TOKENS = 1200
MODEL_TIMEOUT = MODEL_TOOL_TIMEOUT - timedelta(seconds=5)
"""Ends before the tool itself, so that a call that took too long is still charged."""
MAX_PREFERENCES_CHARS = 2000
"""More would not leave room for the report in the grant when each character is a token."""
MAX_FEEDBACK_CHARS = 2000

SUMMARIZER_RULES = f"""You recommend video games. Write 2 or 3 recommendations that suit the given preferences.

- Use only the genre facts, genre reviews, games and prices that are given. Recommend no other game.
- Say for each game why it suits these preferences, with reasons from that data, and what may speak against it.
- Give each game's price next to its title, exactly as in the prices. Never work out, round or make up a price.
- A price limit or something the player does not want is binding. When fewer games fit, recommend fewer and say so; when
  none fits, say plainly that nothing fits, and what comes nearest and why it still falls short.
- Plain text, short, no headings.

{FENCE_RULE}"""


class RecommendationSummary(Report):
    """The recommendation. Its text is the report."""


@tool()
def get_genre_facts() -> list[GenreFacts]:
    """Give pace, focus and complexity of each genre in the catalogue."""
    return list(GENRE_FACTS)


@tool()
def get_genre_reviews() -> list[GenreReviews]:
    """Give what players praise and what they criticise in each genre."""
    return list(GENRE_REVIEWS)


@tool()
def get_games() -> list[GameInfo]:
    """Give the catalogue: title, genre, tags and facts of each game."""
    return list(GAMES)


@tool()
def get_prices() -> list[GamePrice]:
    """Give the current price of each game in the catalogue."""
    return list(PRICES)


@tool(role=ToolRole.FINAL_SYNTHESIS, timeout=MODEL_TOOL_TIMEOUT, max_model_tokens=4000)
async def summarizer_node(
    *,
    preferences: str,
    genre_facts: list[GenreFacts],
    genre_reviews: list[GenreReviews],
    games: list[GameInfo],
    prices: list[GamePrice],
    context: ToolContext,
) -> RecommendationSummary:
    """Write the recommendation from the player's preferences and everything that is known about genres and games.

    Args:
        preferences: The player's wishes in words, as the goal states them.
        genre_facts: What each genre is like.
        genre_reviews: What players say of each genre.
        games: The catalogue.
        prices: The current prices.
    """
    if not preferences.strip():
        raise ToolError(
            ErrorCode.MISSING_REQUIRED_ARGUMENT,
            "summarizer_node: `preferences` is blank; give the player's wishes in words, as the goal states them",
        )
    parts = [
        fenced("preferences", preferences, limit=MAX_PREFERENCES_CHARS),
        fenced_json("genre_facts", _FACTS.dump_python(genre_facts, mode="json")),
        fenced_json("genre_reviews", _REVIEWS.dump_python(genre_reviews, mode="json")),
        fenced_json("games", _GAMES.dump_python(games, mode="json")),
        fenced_json("prices", _PRICES.dump_python(prices, mode="json")),
    ]
    if context.feedback:
        parts += [
            "An earlier report was rejected for the reasons below. Write one that does not give them again.",
            fenced("feedback", context.feedback, limit=MAX_FEEDBACK_CHARS),
        ]
    answer = await context.model.ask(
        ModelRequest(
            role=ModelRole.SYNTHESIS,
            system=SUMMARIZER_RULES,
            user="\n\n".join(parts),
            max_output_tokens=MAX_REPORT_TOKENS,
            timeout=MODEL_TIMEOUT,
            is_grounded=True,
        )
    )
    return RecommendationSummary(report=answer.text.strip())


_FACTS = TypeAdapter[list[GenreFacts]](list[GenreFacts])
_REVIEWS = TypeAdapter[list[GenreReviews]](list[GenreReviews])
_GAMES = TypeAdapter[list[GameInfo]](list[GameInfo])
_PRICES = TypeAdapter[list[GamePrice]](list[GamePrice])


TOOLKIT = Toolkit(
    name="games",
    tools=(get_genre_facts, get_genre_reviews, get_games, get_prices, summarizer_node),
    guidance="Give the goal itself, word for word, as `preferences`. Gather all four kinds of data before the summary.",
    verify=check_report,
)
