"""The calls as a toolkit, and a planner that answers with the plan of the graph that the goal names."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from functools import cache

from activities.model.cards import ModelCards
from activities.model.request import ModelAnswer, ModelRequest
from activities.toolkit import Report, Toolkit, tool
from bench import work
from bench.shapes import Vertex, graph
from harness.catalog import ModelCard, ToolRole
from harness.plan import ArgumentBinding, ArgumentValue, BindingType, Plan, PlanNode
from harness.usage import Usage

NAME = "bench"
CARDS = ModelCards(
    ModelCard(name="scripted", input_token_usd=Decimal("0.000001"), output_token_usd=Decimal("0.000001"))
)
_USAGE = Usage(model="scripted", input_tokens=100, output_tokens=50, cost_usd=Decimal("0.00015"))
_GOAL = re.compile(r"run the graph (\w+:\d+)")


@tool(role=ToolRole.FINAL_SYNTHESIS, timeout=timedelta(seconds=5))
async def report(sources: list[int]) -> Report:
    """Write the report."""
    return Report.model_validate(await work.report(sources))


TOOLKIT = Toolkit(NAME, (*(tool()(call) for call in work.CALLS), report))


class Planner:
    """A model whose plans are scripted by name."""

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Answer with the plan of the graph that the goal names."""
        named = _GOAL.search(request.user)
        if named is None:
            msg = "the goal names no graph"
            raise ValueError(msg)
        return ModelAnswer(answer_of(named.group(1)), _USAGE)


def goal_of(name: str) -> str:
    """Return the goal that the planner answers with the plan of a graph."""
    return f"run the graph {name}"


@cache
def answer_of(name: str) -> str:
    """Return the plan of a graph as a model would write it; made once, because no model is measured here."""
    return Plan(nodes=tuple(map(_node, graph(name)))).model_dump_json()


def _node(vertex: Vertex) -> PlanNode:
    fixed = {name: _value(BindingType.LITERAL, json.dumps(value)) for name, value in vertex.fixed.items()}
    bound = {name: _bound(source) for name, source in vertex.inputs.items()}
    arguments = tuple(ArgumentBinding(name=name, value=value) for name, value in (fixed | bound).items())
    return PlanNode(id=vertex.id, tool=vertex.tool, arguments=arguments, deps=vertex.deps)


def _bound(source: str | tuple[str, ...]) -> ArgumentValue:
    if isinstance(source, tuple):
        return _value(BindingType.NODE_RESULTS, sources=source)
    return _value(BindingType.NODE_RESULT, sources=(source,))


def _value(kind: BindingType, text: str = "", sources: tuple[str, ...] = ()) -> ArgumentValue:
    return ArgumentValue(type=kind, literal_value=text, source_node_ids=sources, path="")
