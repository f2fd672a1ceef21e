"""The beginning of an agent loop: its frame, made of the request once and for all steps."""

import re

from pydantic import JsonValue

from activities.artifacts import ArtifactStore, owner_of_activity
from activities.encodable import encodable
from activities.guardrails.vault import Vault
from activities.loop.evidence import with_figures
from activities.loop.frame import Frame, described
from activities.loop.observations import as_text
from activities.loop.shelf import Shelf
from activities.off_loop import off_loop
from activities.prompts import MAX_FENCED_CHARS, cut
from activities.stored_arguments import loaded
from harness.catalog import Catalog
from harness.conversation import Evidence
from harness.grounding import figures_of
from harness.loop_calls import BeginRequest
from harness.offered_tools import offered_tools

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


async def frame_of(request: BeginRequest, store: ArtifactStore, vault: Vault) -> Frame:
    """Return the frame of a loop: private values are placeholders, and data that is too long for a prompt is cut.

    Raises:
        ToolError: INVALID_ARGUMENT when a tool has a name of the memory's; as the store says.
    """
    owner = owner_of_activity()
    goal = await vault.mask(owner, request.goal)
    data = await vault.mask_json(owner, await _data(request, store))
    given = encodable(as_text(data)) if data else ""
    figures = await off_loop(lambda: figures_of(goal) | figures_of(given), size=len(goal) + len(given))
    return Frame(
        goal=goal,
        tools=described(offered_tools(request.catalog)),
        guidance=_advice(request.catalog),
        given=cut(given, MAX_FENCED_CHARS),
        evidence=await with_figures(Evidence(), figures, Shelf(store)),
    )


def _advice(catalog: Catalog) -> str:
    """Return the toolkit's advice without what it says of tools that a loop is not offered."""
    offered = {tool.name for tool in offered_tools(catalog)}
    others = [tool.name for tool in catalog.tools if tool.name not in offered]
    lines = (_SENTENCE.split(line) for line in catalog.guidance.splitlines())
    kept = (" ".join(said for said in line if not any(name in said for name in others)) for line in lines)
    return "\n".join(filter(None, kept))


async def _data(request: BeginRequest, store: ArtifactStore) -> JsonValue:
    if not request.stored:
        return request.given
    return await loaded(request.given, request.stored, store, owner_of_activity())
