"""The offline summary of an agent loop's older steps: an extract of their record."""

from collections.abc import Mapping

from activities.model.offline_writer import OFFLINE_LINE
from harness.usage import estimate_tokens

OLDER_STEPS = "older_steps"
"""Label of what a request for a summary is about."""
MAX_LINE_CHARS = 200
MAX_EXTRACT_TOKENS = 750

_LEFT_OUT = "{} earlier lines are left out."


def write_extract(texts: Mapping[str, str], *, most_tokens: int) -> str:
    """Shorten the record of older steps to its newest lines that fit, each by its beginning."""
    words = filter(None, (" ".join(line.split()) for line in texts[OLDER_STEPS].splitlines()))
    lines = [line[:MAX_LINE_CHARS] for line in words]
    room = min(MAX_EXTRACT_TOKENS, most_tokens) - estimate_tokens(OFFLINE_LINE) - estimate_tokens(_LEFT_OUT)
    kept: list[str] = []
    for line in reversed(lines):
        room -= estimate_tokens(line)
        if room < 0:
            break
        kept.insert(0, line)
    told = [_LEFT_OUT.format(len(lines) - len(kept))] if len(kept) < len(lines) else []
    return "\n".join([*told, *kept, OFFLINE_LINE])
