"""The plan: what a model writes. A DAG of tool calls whose arguments are literals or results of other nodes."""

from enum import StrEnum
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field


class BindingType(StrEnum):
    """How an argument gets its value."""

    LITERAL = "LITERAL"
    NODE_RESULT = "NODE_RESULT"
    NODE_RESULTS = "NODE_RESULTS"


class _Written(BaseModel):
    """Base of what a model writes: every field required, nothing extra, no coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ArgumentValue(_Written):
    """The value of one argument."""

    type: BindingType
    """LITERAL takes literal_value; NODE_RESULT one source; NODE_RESULTS a list of sources in their order."""
    literal_value: str
    """Text for a string parameter; JSON for any other. Empty unless type is LITERAL."""
    source_node_ids: tuple[str, ...]
    """Ids of the nodes whose results are taken; each is also in deps. Empty for LITERAL."""
    path: str
    """RFC 6901 JSON Pointer into the result of each source; empty takes the whole result."""


class ArgumentBinding(_Written):
    """One named argument of a node."""

    name: str
    """Parameter name of the tool."""
    value: ArgumentValue


class PlanNode(_Written):
    """One tool call."""

    id: str
    """Short unique name within the plan."""
    tool: str
    """Name of a tool in the catalog."""
    arguments: tuple[ArgumentBinding, ...]
    deps: tuple[str, ...]
    """Ids of nodes that must be DONE before this one starts. Order only; data flows through arguments."""


class Plan(_Written):
    """A directed acyclic graph of tool calls that ends in exactly one FINAL_SYNTHESIS node."""

    nodes: tuple[PlanNode, ...] = Field(description="Nodes in the order in which they should start.")


@lru_cache(maxsize=2)
def read_plan(text: str) -> Plan:
    """Read a plan from its JSON.

    A plan of ten thousand nodes takes half a second to read, and goes on in one workflow run after the other.
    """
    return Plan.model_validate_json(text)
