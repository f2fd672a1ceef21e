"""Progress: what a run knows that its next workflow run must know too, as pages of the artifact store.

A page holds what has changed since the page before it, so that keeping the state costs as much as the work it tells of.
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from harness.artifact import StoredResult
from harness.catalog import Catalog
from harness.errors import ErrorCode
from harness.run import AttemptRecord
from harness.schedule import NodeStatus
from harness.usage import Usage, no_usage


class NodeProgress(BaseModel):
    """What is known of one node."""

    model_config = ConfigDict(frozen=True)

    status: NodeStatus
    tries: int = 0
    usage: Usage = Field(default_factory=no_usage)
    latency_ms: int | None = None
    error: str | None = None
    error_code: ErrorCode | None = None
    reused: bool = False
    result: StoredResult | None = None
    """Set for a node that is DONE."""
    keys: tuple[str, ...] = ()
    """Keys under which the result may be reused."""
    agents: int = 0
    """How many agents were started for it."""
    written: tuple[str, ...] = ()
    """Keys of what its agents have written."""


class StatePage(BaseModel):
    """A part of the state of a run. Of several pages, later ones add to earlier ones and replace equal keys."""

    model_config = ConfigDict(frozen=True)

    paid: dict[str, StoredResult] = {}
    """Results of READ tools of earlier attempts, by reuse key, oldest first."""
    written: dict[str, StoredResult] = {}
    """Results of tools that write, by reuse key: their calls must not be made again."""
    agent_writes: tuple[str, ...] = ()
    """Keys of what agents had written before the nodes of the pages: harness.made_writes."""
    attempts: tuple[AttemptRecord, ...] = ()
    catalog: Catalog | None = None
    """Catalog of the attempt, when its plan goes on."""
    plan: str = ""
    """Plan of the attempt as JSON, when it goes on."""
    planned_by: str = ""
    nodes: dict[str, NodeProgress] = {}
    """Nodes of that plan, by id."""


def merged(pages: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return what pages say together, each being a StatePage as JSON."""
    whole: dict[str, Any] = {}
    for page in pages:
        for name, value in page.items():
            match value:
                case dict():
                    whole[name] = whole.get(name, {}) | value
                case list():
                    whole[name] = whole.get(name, []) + value
                case _:
                    whole[name] = value
    return whole
