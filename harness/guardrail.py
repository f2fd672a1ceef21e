"""Guardrails: the checks round every model call, in their order, and what they report."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

MAX_DETAIL_CHARS = 200
MAX_FLAGS = 20
"""Flags that one report holds; it counts the others."""


class Guardrail(StrEnum):
    """A check of the chain. Members are in the order in which they run."""

    INJECTION = "injection"
    """Text that tries to give orders: blocks in a goal, is marked elsewhere."""
    PII = "pii"
    """Private values are replaced by placeholders before a model sees them."""
    JSON = "json"
    """An answer that must be JSON of a schema is."""
    GROUNDING = "grounding"
    """Figures, prices and dates of an answer come from results, goal or memory."""


class Flag(BaseModel):
    """One thing that a guardrail has found."""

    model_config = ConfigDict(frozen=True)

    guardrail: Guardrail
    where: str
    """In what: "goal", "prompt", "answer", or a tool and call id."""
    detail: str
    """What, in at most 200 characters, without private values."""


class GuardReport(BaseModel):
    """What the guardrails say of one activity's model calls and results. Unset fields do not travel."""

    model_config = ConfigDict(frozen=True)

    ran: tuple[Guardrail, ...] = ()
    """In the order of the chain."""
    flags: tuple[Flag, ...] = ()
    flags_untold: int = 0
    corrections: int = 0
    """Model calls that were made once more because of figures that come from nowhere."""
    ungrounded: tuple[str, ...] = ()
    """Figures of the answer that come from nowhere, as they stand in it."""
