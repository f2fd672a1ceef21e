"""Evidence: the figures of all results of a loop, a few in its conversation and the rest in blocks in the store."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from activities.loop.shelf import Shelf
from activities.side_by_side import side_by_side
from harness.conversation import Evidence

OPEN_CHARS = 8_000
"""Figures with more characters than this together are put into a block."""
MAX_BLOCKS = 16
"""Blocks that a conversation names; when there are so many, a new one names them in their place."""


class _Block(BaseModel):
    model_config = ConfigDict(frozen=True)

    figures: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    """Digests of further blocks."""


async def with_figures(evidence: Evidence, figures: Iterable[str], shelf: Shelf) -> Evidence:
    """Return evidence with more figures."""
    known = tuple(sorted({*evidence.open, *figures}))
    if sum(map(len, known)) <= OPEN_CHARS:
        return evidence.model_copy(update={"open": known})
    is_full = len(evidence.blocks) >= MAX_BLOCKS
    kept = await shelf.put(_Block(figures=known, earlier=evidence.blocks if is_full else ()))
    return Evidence(blocks=(kept.digest,) if is_full else (*evidence.blocks, kept.digest))


async def all_figures(evidence: Evidence, shelf: Shelf) -> set[str]:
    """Return every figure of the evidence.

    Raises:
        ToolError: ARTIFACT_LOST or PROVIDER_UNAVAILABLE, as the store says.
    """
    found, waiting = set(evidence.open), evidence.blocks
    while waiting:
        blocks = await side_by_side(lambda digest: shelf.get_by_digest(_Block, digest), waiting)
        found.update(*(block.figures for block in blocks))
        waiting = tuple(digest for block in blocks for digest in block.earlier)
    return found
