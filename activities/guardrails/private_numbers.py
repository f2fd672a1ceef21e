"""Private values that are whole numbers in JSON: what their digits would be as a text under the same key."""

import re
from collections.abc import Mapping

from activities.guardrails.pii import find_private
from activities.guardrails.private import Private, PrivateKind

_COUNTED = re.compile(
    r"(?i:(?:^|[_\W])(?:ids?|time|timestamp|ts|date|at|on|ms|ns|us|epoch|size|bytes|count|total|amount|price|cost|views"
    r"|offset|seed|version|build|order|ticket|invoice|sku|isbn|ean|upc|gtin|hash|index|duration)$)"
    r"|[a-z](?:Ids?|Time|Timestamp|Date|At|On|Ms|Ns|Size|Bytes|Count|Total|Amount|Price|Cost|Hash|Version)$"
)
"""Keys of numbers that look like cards or phones by chance."""
_BY_CHANCE = (PrivateKind.CARD, PrivateKind.PHONE)


def find_private_number(number: int, label: str, sought: Mapping[str, PrivateKind]) -> tuple[Private, ...]:
    """Return a number as the private value that it is; nothing when it is none.

    Args:
        number: Any whole number.
        label: The key under which it stands.
        sought: Values that are private whatever they look like.
    """
    text = str(number)
    if text in sought:
        return (Private(sought[text], 0, len(text), text),)
    found = [each for each in find_private(text, label) if each.value == text]
    is_counted = bool(_COUNTED.search(label))
    return tuple(each for each in found if not (is_counted and each.kind in _BY_CHANCE))
