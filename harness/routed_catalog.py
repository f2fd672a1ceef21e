"""Routed catalogs: what there is to pick from when a run has many tools, and what its planner is shown in the end.

Tools that write the report are always shown, and so are tools that a refused plan has asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, JsonValue

from harness.catalog import Catalog, ToolRole, ToolSpec
from harness.errors import bounded
from harness.plan import Plan
from harness.recovery import FailureContext
from harness.routing import Offer, offer_of, pick_by_rule
from harness.usage import estimate_tokens

RULES_TOKENS = 400
"""Most tokens of the fixed part of a routing prompt, the schema of its answer included."""
OUTPUT_TOKENS = 1000
"""Most output tokens of a routing call: a few names, and room for a model that thinks."""
MAX_TOLD = 20
"""Names that the trace tells of each kind."""
MAX_NAME_CHARS = 100
MAX_WANTED = 50
MAX_NAMES_READ = 1000
"""Names of one answer that are looked at."""
MAX_FAILURES_TOLD = 3
MAX_FAILURE_CHARS = 500
MAX_FAILED_NODES_TOLD = 10


class RoutedBy(StrEnum):
    """Who picked the tools."""

    MODEL = "model"
    RULE = "rule"


class ToolPick(BaseModel):
    """The answer to a routing call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: tuple[str, ...]


@dataclass(frozen=True)
class Routing:
    """What there is to pick from, and how many."""

    finals: tuple[ToolSpec, ...]
    """Shown whatever is picked."""
    wanted: tuple[str, ...]
    """Shown because a refused plan named them, newest first."""
    offers: tuple[Offer, ...]
    """The rest, in the order of the catalog."""
    room: int
    """Most of the rest that may be shown."""


@dataclass(frozen=True)
class Picked:
    """What came of picking."""

    by: RoutedBy
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names in an answer that no tool has."""
    why: str = ""
    """Why the rule picked."""


def needs_routing(catalog: Catalog, most: int) -> bool:
    """Return whether there are more tools than a planner is to be shown."""
    return len(catalog.tools) > most


def routing_of(catalog: Catalog, most: int, failures: Iterable[FailureContext]) -> Routing:
    """Return what there is to pick from; beside the tools that write the report there is room for one at the least."""
    finals = tuple(tool for tool in catalog.tools if tool.role is ToolRole.FINAL_SYNTHESIS)
    others = {tool.name: tool for tool in catalog.tools if tool.role is not ToolRole.FINAL_SYNTHESIS}
    room = max(1, most - len(finals))
    named = dict.fromkeys(name for failure in reversed(tuple(failures)) for name in failure.wanted)
    wanted = tuple(name for name in named if name in others)[:room]
    offers = tuple(offer_of(tool) for name, tool in others.items() if name not in wanted)
    return Routing(finals, wanted, offers, room - len(wanted))


def picked_by_rule(goal: str, routing: Routing, *, has_failed: bool, why: str, unknown: tuple[str, ...] = ()) -> Picked:
    """Pick by the words that goal and tools share; `why` says why no model has, `unknown` what one has named."""
    names = pick_by_rule(goal, routing.offers, routing.room, has_failed=has_failed)
    return Picked(RoutedBy.RULE, names, unknown, why)


def picked_by_answer(answer: Iterable[str], routing: Routing) -> Picked:
    """Read a model's answer: known names in its order, as many as there is room for; perhaps none."""
    offered = {offer.name for offer in routing.offers}
    shown = {*routing.wanted, *(tool.name for tool in routing.finals)}
    names = dict.fromkeys(answer)
    unknown = tuple(name for name in names if name not in offered and name not in shown)
    return Picked(RoutedBy.MODEL, tuple(name for name in names if name in offered)[: routing.room], unknown)


def routed(catalog: Catalog, routing: Routing, picked: Picked) -> Catalog:
    """Return the catalog cut to the picked tools and those that are shown anyway, in its own order."""
    shown = {*picked.names, *routing.wanted, *(tool.name for tool in routing.finals)}
    tools = tuple(tool for tool in catalog.tools if tool.name in shown)
    left_out = tuple(tool.name for tool in catalog.tools if tool.name not in shown)
    return catalog.model_copy(update={"tools": tools, "left_out": left_out})


def shown_to_planner(catalog: Catalog) -> Catalog:
    """Return a catalog without what is not for planners; the same one when there is nothing of that."""
    hidden = {"withheld", "unmatched_patterns", "left_out"} & catalog.model_fields_set
    if not hidden:
        return catalog
    return Catalog.model_validate({name: getattr(catalog, name) for name in catalog.model_fields_set - hidden})


def wanted_tools(plan: Plan, catalog: Catalog) -> tuple[str, ...]:
    """Return the tools that a plan names though they were left out of its catalog."""
    left_out = set(catalog.left_out)
    return tuple(dict.fromkeys(node.tool for node in plan.nodes if node.tool in left_out))[:MAX_WANTED]


def told_failures(failures: Sequence[FailureContext]) -> tuple[FailureContext, ...]:
    """Return the last failures as a routing call is told of them: what was said, and which tools failed."""
    return tuple(map(_shortened, failures[-MAX_FAILURES_TOLD:]))


def routing_prompt_tokens(goal: str, offers: Sequence[Offer], failures: Iterable[FailureContext]) -> int:
    """Estimate the prompt of a routing call, on the high side, from what it is built of."""
    values: list[BaseModel] = [*offers, *failures]
    told = "\n".join(value.model_dump_json(exclude_unset=True) for value in values)
    return RULES_TOKENS + estimate_tokens(goal) + estimate_tokens(told)


def decision_data(shown: Catalog, picked: Picked) -> dict[str, JsonValue]:
    """Return a decision as the trace tells it."""
    first: list[JsonValue] = list(shown.left_out[:MAX_TOLD])
    unknown: list[JsonValue] = [bounded(name, MAX_NAME_CHARS) for name in picked.unknown[:MAX_TOLD]]
    data: dict[str, JsonValue] = {
        "shown": [tool.name for tool in shown.tools],
        "left_out": {"count": len(shown.left_out), "first": first},
        "by": picked.by,
    }
    optional: dict[str, JsonValue] = {"why": picked.why, "unknown": unknown}
    return data | {name: value for name, value in optional.items() if value}


def _shortened(failure: FailureContext) -> FailureContext:
    nodes = [
        node.model_copy(update={"message": bounded(node.message, MAX_FAILURE_CHARS)})
        for node in failure.nodes[:MAX_FAILED_NODES_TOLD]
    ]
    return FailureContext(
        attempt=failure.attempt,
        phase=failure.phase,
        error_class=failure.error_class,
        message=bounded(failure.message, MAX_FAILURE_CHARS),
        nodes=tuple(nodes),
    )
