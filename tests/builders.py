"""Small builders of plans and catalogs for tests. What a test does not name has a plain default."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from pydantic import JsonValue

from harness.budget import Budget, Limits
from harness.catalog import Catalog, Effect, JsonSchema, ModelCard, ToolRole, ToolSpec
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, Plan, PlanNode
from harness.trace import TraceEvent, TraceKind

TEXT: JsonSchema = {"type": "string"}
NUMBER: JsonSchema = {"type": "number"}
LIST: JsonSchema = {"type": "array", "items": {}}
TEXTS: JsonSchema = {"type": "array", "items": {"type": "string"}}
REPORT: JsonSchema = {
    "type": "object",
    "properties": {"report": {"type": "string"}},
    "required": ["report"],
    "additionalProperties": False,
}


NO_BUDGET = Budget(
    Limits(max_tokens=1, max_tool_calls=1, max_cost_usd=Decimal(1), max_wall_clock=timedelta(1))
).snapshot(timedelta(0))
"""A budget in which nothing is used, where a test does not care."""


def literal(text: str) -> ArgumentValue:
    """Return a LITERAL value."""
    return ArgumentValue(type=BindingType.LITERAL, literal_value=text, source_node_ids=(), path="")


def result_of(node_id: str, path: str = "") -> ArgumentValue:
    """Return the NODE_RESULT of one node."""
    return ArgumentValue(type=BindingType.NODE_RESULT, literal_value="", source_node_ids=(node_id,), path=path)


def results_of(*node_ids: str, path: str = "") -> ArgumentValue:
    """Return the NODE_RESULTS of several nodes, in that order."""
    return ArgumentValue(type=BindingType.NODE_RESULTS, literal_value="", source_node_ids=node_ids, path=path)


def node(
    node_id: str,
    tool: str = "read",
    *,
    deps: Iterable[str] = (),
    arguments: Mapping[str, ArgumentValue] | None = None,
) -> PlanNode:
    """Return a node; `arguments` maps parameter names to values."""
    bindings = tuple(ArgumentBinding(name=name, value=value) for name, value in (arguments or {}).items())
    return PlanNode(id=node_id, tool=tool, arguments=bindings, deps=tuple(deps))


def plan(*nodes: PlanNode) -> Plan:
    """Return a plan of these nodes, in this order."""
    return Plan(nodes=nodes)


def chain(length: int) -> Plan:
    """Return a valid plan for `catalog()` of n0 -> n1 -> ... -> report, `length` nodes in all."""
    reads = [node(f"n{i}", deps=[f"n{i - 1}"] if i else []) for i in range(length - 1)]
    return plan(*reads, node("report", "report", deps=[f"n{length - 2}"] if reads else []))


def fan(width: int) -> Plan:
    """Return a valid plan for `catalog()` of `width` independent reads and a report on all of them."""
    ids = [f"n{i}" for i in range(width)]
    return plan(*(node(node_id) for node_id in ids), node("report", "report", deps=ids))


def tool_spec(
    name: str = "read",
    *,
    parameters: Mapping[str, JsonSchema] | None = None,
    optional: Iterable[str] = (),
    result: JsonSchema | None = None,
    role: ToolRole = ToolRole.DATA,
    effect: Effect = Effect.READ,
    timeout: timedelta = timedelta(seconds=5),
    max_tries: int = 3,
    version: str = "1",
    ageing: bool = False,
    max_model_tokens: int = 0,
) -> ToolSpec:
    """Return a tool; `parameters` maps names to schemas, all required but the `optional` ones.

    Without a result schema a FINAL_SYNTHESIS tool returns a report object, any other tool an unspecified value.
    """
    properties: dict[str, JsonValue] = dict(parameters or {})
    left_out = set(optional)
    default_result = REPORT if role is ToolRole.FINAL_SYNTHESIS else {}
    return ToolSpec(
        name=name,
        description=f"The tool {name}.",
        parameters={
            "type": "object",
            "properties": properties,
            "required": [parameter for parameter in properties if parameter not in left_out],
            "additionalProperties": False,
        },
        result=default_result if result is None else result,
        role=role,
        effect=effect,
        timeout=timeout,
        max_tries=max_tries,
        version=version,
        ageing=ageing,
        max_model_tokens=max_model_tokens,
    )


def catalog(*tools: ToolSpec, toolkit: str = "test") -> Catalog:
    """Return a catalog of these tools; without any, of `read` (no parameters) and `report` (FINAL_SYNTHESIS)."""
    chosen = tools or (tool_spec("read"), tool_spec("report", role=ToolRole.FINAL_SYNTHESIS))
    card = ModelCard(name="test-model", input_token_usd=Decimal("0.001"), output_token_usd=Decimal("0.002"))
    return Catalog(toolkit=toolkit, tools=chosen, model=card)


def games_catalog() -> Catalog:
    """Return four DATA tools without parameters and a summary that needs all their results."""
    data = ("get_genre_facts", "get_genre_reviews", "get_games", "get_prices")
    summary_parameters = {"preferences": TEXT, "genreFacts": LIST, "genreReviews": LIST, "games": LIST, "prices": LIST}
    summary = tool_spec("summarizer_node", parameters=summary_parameters, role=ToolRole.FINAL_SYNTHESIS)
    return catalog(*(tool_spec(name, result=LIST) for name in data), summary, toolkit="games")


def games_plan() -> Plan:
    """Return the valid plan of five nodes for `games_catalog()`: four reads at once, then the summary."""
    sources = {"genreFacts": "facts", "genreReviews": "reviews", "games": "games", "prices": "prices"}
    return plan(
        node("facts", "get_genre_facts"),
        node("reviews", "get_genre_reviews"),
        node("games", "get_games"),
        node("prices", "get_prices"),
        node(
            "summary",
            "summarizer_node",
            deps=["facts", "reviews", "games", "prices"],
            arguments={
                "preferences": literal("short, calm, under 30 USD"),
                **{name: result_of(source) for name, source in sources.items()},
            },
        ),
    )


def event(kind: TraceKind, status: str, message: str | None = None, **data: JsonValue) -> TraceEvent:
    """Return a trace event at the beginning of time."""
    return TraceEvent(
        timestamp=datetime.fromtimestamp(0, UTC),
        run_id="run-1",
        session_id="",
        attempt=0,
        kind=kind,
        status=status,
        message=message,
        budget=NO_BUDGET,
        data=data,
    )
