"""Private values: what they are, and the quick question whether a text may hold any."""

import re
import string
from dataclasses import dataclass
from enum import StrEnum

from activities.guardrails.email_addresses import may_hold_email
from activities.guardrails.number_runs import has_number_run
from activities.guardrails.plain_view import plain_view
from activities.guardrails.secrets_in_text import may_hold_secret


class PrivateKind(StrEnum):
    """What a private value is. Where two overlap, the one that stands first here wins."""

    SECRET = "SECRET"  # noqa: S105 - a name
    """A key, a token, a password."""
    EMAIL = "EMAIL"
    IBAN = "IBAN"
    CARD = "CARD"
    NATIONAL_ID = "NATIONAL_ID"
    PHONE = "PHONE"


@dataclass(frozen=True)
class Private:
    """A private value in a text."""

    kind: PrivateKind
    start: int
    end: int
    value: str
    """The text from start to end, as it is written there."""


Value = str | int
"""A private value: a text, or a whole number of JSON."""

_SPACES = dict.fromkeys((0x00A0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
_HYPHENS = dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), "-")
_WIDE = {ord(sign) + 0xFEE0: sign for sign in f"{string.digits}{string.ascii_letters}+-@()./_"}
_ARABIC = {zero + digit: str(digit) for zero in (0x0660, 0x06F0) for digit in range(10)}
_AS_ASCII = _SPACES | _HYPHENS | _WIDE | _ARABIC | {0xFE6B: "@"}
_NUMBERS = re.compile(r"[-0-9.,\[\] ]*")
"""Numbers of JSON and lists of them: neither letters nor escapes, so nothing but long numbers can be private."""
_ANY_OTHER = re.compile(f"[{''.join(map(chr, _AS_ASCII))}]")


def narrowed(text: str) -> str:
    """Return a text of the same length with ASCII signs for wide ones, other digits, spaces and hyphens."""
    return text if text.isascii() or not _ANY_OTHER.search(text) else text.translate(_AS_ASCII)


def may_hold_private(text: str) -> bool:
    """Return whether a text may hold a private value; False is certain, and takes microseconds for a short text."""
    if _NUMBERS.fullmatch(text):
        return has_number_run(text)
    narrow = narrowed(text)
    if _may_hold(narrow):
        return True
    view = plain_view(narrow)
    return view is not None and _may_hold(narrowed(view.text))


def _may_hold(text: str) -> bool:
    return may_hold_email(text) or may_hold_secret(text) or has_number_run(text)
