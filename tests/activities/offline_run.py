"""One goal through the offline model and the games tools, without Temporal: plan, validate, run, check."""

import inspect
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from activities.model.bounded import BoundedModel
from activities.model.client import OpenAIModel
from activities.model.request import Model
from activities.planning import draft_plan
from activities.settings import WorkerSettings
from activities.toolkit import Tool, ToolContext, Toolkit, describe
from activities.toolkit_loading import load_toolkit
from harness.binding import materialise
from harness.calls import PlanRequest
from harness.plan import Plan
from harness.recovery import FailureContext
from harness.usage import Usage
from harness.validation import validate
from harness.verification import Verdict
from harness.violation import Violation

TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True)
class Outcome:
    """What came of a goal."""

    plan: Plan
    violations: tuple[Violation, ...]
    report: str
    verdict: Verdict
    results: dict[str, JsonValue]
    usage: Usage


def plan_request(
    toolkit: Toolkit, goal: str, *, max_nodes: int = 20, failures: tuple[FailureContext, ...] = ()
) -> PlanRequest:
    """Return a request for a plan of a toolkit, with the offline model's card."""
    return PlanRequest(
        goal=goal,
        catalog=describe(toolkit, OpenAIModel(WorkerSettings()).cards()),
        max_nodes=max_nodes,
        max_output_tokens=4000,
        max_tokens=20_000,
        timeout=TIMEOUT,
        failures=failures,
    )


async def run_games(goal: str, *, feedback: str = "") -> Outcome:
    """Take a goal from plan to checked report."""
    toolkit = load_toolkit("games")
    request = plan_request(toolkit, goal)
    model = OpenAIModel(WorkerSettings())
    drafted = await draft_plan(model, request, TIMEOUT)
    by_node: dict[str, JsonValue] = {}
    by_tool: dict[str, JsonValue] = {}
    for node in drafted.plan.nodes:
        tool = toolkit.by_name().get(node.tool)
        assert tool is not None
        arguments = materialise(node, tool.spec, by_node).values
        by_node[node.id] = by_tool[node.tool] = await call(tool, arguments, model=model, feedback=feedback)
    await model.close()
    assert toolkit.verify is not None
    verdict = toolkit.verify(goal, by_tool["summarizer_node"], by_tool)
    assert isinstance(verdict, Verdict)
    report = by_tool["summarizer_node"]
    assert isinstance(report, dict)
    violations = validate(drafted.plan, request.catalog, max_nodes=20, calls_left=50)
    return Outcome(drafted.plan, violations, str(report["report"]), verdict, by_tool, drafted.answer.usage)


async def call(tool: Tool, arguments: dict[str, JsonValue], *, model: Model, feedback: str = "") -> JsonValue:
    """Call a tool as an activity does: arguments and result travel as JSON."""
    validated = tool.arguments.model_validate_json(json.dumps(arguments))
    keywords = {name: getattr(validated, name) for name in type(validated).model_fields}
    if tool.context_parameter:
        grant = tool.spec.max_model_tokens
        keywords[tool.context_parameter] = ToolContext(
            run_id="run",
            node_id="report",
            try_number=1,
            idempotency_key="key",
            deadline=datetime(2026, 1, 1, tzinfo=UTC),
            model=BoundedModel(model, grant),
            max_tokens=grant,
            feedback=feedback,
        )
    result = tool.function(**keywords)
    value: JsonValue = json.loads(tool.result.dump_json(await result if inspect.isawaitable(result) else result))
    return value
