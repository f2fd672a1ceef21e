"""The bodies of the calls, which do as little as they can. Every contender runs these very functions."""

import asyncio

from temporalio import activity


@activity.defn
async def step(x: int) -> int:
    """Return what was given."""
    return x


@activity.defn
async def total(xs: list[int]) -> int:
    """Return how many results there are."""
    return len(xs)


@activity.defn
async def nap(ms: int) -> int:
    """Wait so many milliseconds."""
    await asyncio.sleep(ms / 1000)
    return ms


@activity.defn
async def blob(size: int) -> str:
    """Return a text of so many bytes."""
    return "x" * size


@activity.defn
async def measure(text: str) -> int:
    """Return the length of a text."""
    return len(text)


@activity.defn
async def report(sources: list[int]) -> dict[str, str]:
    """Return a report of one line that tells wrong results from right ones."""
    return {"report": f"{len(sources)} results, {sum(sources)} in sum"}


CALLS = (step, total, nap, blob, measure)
"""All but the report, whose result has a class of its own in a toolkit."""
