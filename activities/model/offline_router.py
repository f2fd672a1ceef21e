"""The offline router: the answer to a routing call by the rule that is also used when there is no answer."""

import json
from collections.abc import Mapping

from pydantic import ValidationError

from harness.routed_catalog import ToolPick
from harness.routing import Offer, pick_by_rule


def write_pick(texts: Mapping[str, str]) -> str:
    """Write a pick as JSON from the fenced texts of a prompt: goal, tools, limits, failures."""
    offers = _read_offers(texts.get("tools", ""))
    most = _max_tools(texts.get("limits", ""), len(offers))
    names = pick_by_rule(texts.get("goal", ""), offers, most, has_failed="failures" in texts)
    return ToolPick(tools=names).model_dump_json()


def _read_offers(lines: str) -> list[Offer]:
    offers = []
    for line in lines.split("\n"):
        try:
            offers.append(Offer.model_validate_json(line))
        except ValidationError:
            continue  # a line that is no offer cannot be picked
    return offers


def _max_tools(text: str, default: int) -> int:
    try:
        limit = json.loads(text)["max_tools"]
    except (ValueError, KeyError, TypeError):
        return default
    return limit if isinstance(limit, int) else default
