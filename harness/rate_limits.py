"""Rate limits: which limit an activity keeps, and whose turn it is.

Several workers share a limit without talking to each other: time is cut into slots of 1/rate, and each worker has every
n-th slot, by its rank among the n workers.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from harness.catalog import RateLimit, ToolSpec

MODEL_LIMIT = "model"
"""Name of the limit of all model calls that have none of their own."""
LONGEST_ROUND_S = 7.5
"""Where a worker's turn comes less often, nobody waits for turns: the server's limiter alone is exact enough there."""


@dataclass(frozen=True)
class Place:
    """Where a worker stands among those that share a limit."""

    rank: int = 0
    """0 for the first."""
    workers: int = 1


ALONE = Place()


def limit_of_models(model_rate: float | None) -> RateLimit | None:
    """Return the limit of a model call; None for none."""
    return None if model_rate is None else RateLimit(name=MODEL_LIMIT, per_second=model_rate)


def limit_of(tool: ToolSpec, model_rate: float | None) -> RateLimit | None:
    """Return the limit that the calls of a tool keep: its own, else that of models if it calls one."""
    if tool.rate_limit is not None:
        return tool.rate_limit
    return limit_of_models(model_rate) if tool.max_model_tokens else None


def limits_of(tools: Iterable[ToolSpec], model_rate: float | None) -> dict[str, float]:
    """Return the calls a second of each limit that there is, by its name."""
    of_tools = {tool.rate_limit.name: tool.rate_limit.per_second for tool in tools if tool.rate_limit is not None}
    return of_tools if model_rate is None else of_tools | {MODEL_LIMIT: model_rate}


def next_turn(now: float, last: float, per_second: float, place: Place) -> float:
    """Return when the next call of a worker may start, in seconds of the clock that all workers share.

    Args:
        now: the earliest moment.
        last: when the last call of this worker started, or is to start; -inf before the first.
        per_second: calls a second of all workers together.
        place: where the worker stands.
    """
    slot = 1 / per_second
    round_s = slot * place.workers
    if place.workers == 1 or round_s > LONGEST_ROUND_S:
        return max(now, last + slot)
    # Half a slot after the last turn: another rank, or rounding, must not give the same turn twice.
    earliest = max(now, last + slot / 2)
    offset = slot * place.rank
    return math.ceil((earliest - offset) / round_s) * round_s + offset
