"""The index of a plan: its nodes and tools by name, and hints for names that are wrong."""

from dataclasses import dataclass, field

from harness.catalog import Catalog, Effect, ToolRole, ToolSpec
from harness.near_match import NearMatches
from harness.plan import Plan, PlanNode
from harness.signature import Signature
from harness.violation import Rule

FitKey = tuple[str, str, str, str, int | None]
"""Source tool, path, target tool, parameter, and place in a list: what a verdict on fitting depends on."""


@dataclass(frozen=True)
class ListFit:
    """What a parameter says of a list of so many results, whatever they are."""

    clash: str | None
    """Why it cannot take such a list."""
    is_alike: bool
    """True when the list may have anything in one place that it may have in another."""


@dataclass(frozen=True)
class PlanIndex:
    """What the rules look up. Of nodes with one id the first counts, and of tools with one name."""

    nodes: dict[str, PlanNode]
    tools: dict[str, ToolSpec]
    near_ids: NearMatches
    near_tools: NearMatches
    near_arguments: dict[str, NearMatches]
    """Hints for argument names, by tool name."""
    signatures: dict[str, Signature]
    """The signature of each tool, by name."""
    withheld: dict[str, str]
    """Why the run may not use a tool, by its name."""
    left_out: frozenset[str]
    """Tools that the planner was not shown."""
    misfits: dict[FitKey, tuple[Rule, str] | None] = field(default_factory=dict)
    """Verdicts that are already known: many nodes pass the same result to the same parameter."""
    list_fits: dict[tuple[str, str, int], ListFit] = field(default_factory=dict)
    """The same for lists, by tool, parameter, and length."""

    @classmethod
    def of(cls, plan: Plan, catalog: Catalog) -> "PlanIndex":
        """Index a plan, valid or not."""
        nodes: dict[str, PlanNode] = {}
        for node in plan.nodes:
            nodes.setdefault(node.id, node)
        tools: dict[str, ToolSpec] = {}
        for tool in catalog.tools:
            tools.setdefault(tool.name, tool)
        signatures = {name: Signature(tool) for name, tool in tools.items()}
        return cls(
            nodes=nodes,
            tools=tools,
            signatures=signatures,
            withheld={each.name: each.reason for each in catalog.withheld},
            left_out=frozenset(catalog.left_out),
            near_ids=NearMatches(nodes),
            near_tools=NearMatches(tools),
            near_arguments={name: NearMatches(signature.schemas) for name, signature in signatures.items()},
        )

    def tool_of(self, node_id: str) -> ToolSpec | None:
        """Return the tool of a node, or None when the node or its tool is unknown."""
        node = self.nodes.get(node_id)
        return self.tools.get(node.tool) if node else None

    def is_read(self, node: PlanNode) -> bool:
        """Return whether a node only reads."""
        tool = self.tools.get(node.tool)
        return tool is not None and tool.effect is Effect.READ

    def is_final(self, node: PlanNode) -> bool:
        """Return whether a node writes the report."""
        tool = self.tools.get(node.tool)
        return tool is not None and tool.role is ToolRole.FINAL_SYNTHESIS
