"""How well a ratio of medians is known."""

from collections.abc import Sequence
from random import Random
from statistics import median, stdev

LEAST_TURNS = 5
"""Fewer tell nothing about how much they scatter."""
_RESAMPLES = 500


def standard_error(times: Sequence[float], others: Sequence[float]) -> float | None:
    """Return the standard error of the ratio of two medians, by the bootstrap over turns; None of too few turns.

    The times are those of one side and of the other in the same turns. Resampling turns keeps what they share: a
    machine that is slow for a while is so for both. Turns count as independent; where the machine drifts, the ratio is
    known less well than this tells.
    """
    turns = list(zip(times, others, strict=True))
    if len(turns) < LEAST_TURNS:
        return None
    random = Random(0)
    ratios: list[float] = []
    for _ in range(_RESAMPLES):
        ours, theirs = zip(*random.choices(turns, k=len(turns)), strict=True)
        ratios.append(median(ours) / median(theirs))
    error: float = stdev(ratios)
    return error
