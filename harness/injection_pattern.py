"""What one way to attack a model looks like in text."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Pattern:
    """One way to give a model orders."""

    name: str
    """Kind of attack; several patterns share one."""
    triggers: tuple[str, ...]
    """Words of which every match holds one: only the text round them is looked at."""
    regex: re.Pattern[str]
    """For text as `harness.disguise` gives it."""


def pattern(name: str, triggers: str, regex: str) -> Pattern:
    """Return a pattern.

    Args:
        name: Kind of attack.
        triggers: Words with a bar between them.
        regex: For small plain letters with one blank or line break between words; `_` is one that may be missing. All
            gaps must be bounded, so that no text makes the pattern slow.
    """
    return Pattern(name, tuple(triggers.split("|")), re.compile(regex.replace("_", r"[ \n]?"), re.DOTALL))
