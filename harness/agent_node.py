"""Agent nodes: the tool of a plan that works in steps of its own, and its share of the budget."""

from datetime import timedelta
from decimal import ROUND_DOWN, Decimal

from harness.budget import COST_DIGITS, LEAST_COST_USD, NOTHING, Amount
from harness.catalog import Catalog, Effect, ToolRole, ToolSpec
from harness.errors import ErrorCode, ToolError, bounded, listed
from harness.loop import LoopResult, LoopStatus
from harness.memory import MEMORY_NAMES

AGENT = "agent"
"""Name of the tool; no tool of a toolkit may have it in a run that allows agents."""
AGENT_TIMEOUT = timedelta(hours=1)
LEAST_SHARE = Amount(tokens=2500, tool_calls=1, cost_usd=LEAST_COST_USD)
"""With less an agent is not worth starting: one short step and its answer."""
MAX_PARTIAL_CHARS = 1000
_DESCRIPTION = (
    "Work out a part of the goal step by step, with the other tools, where what to do next depends on what is found "
    "and so cannot be planned: a search that may need other words, a cause to be tracked down. It costs many model "
    "calls: do not use it for what fixed calls can do. Give it one clear goal with all that it must know; it sees "
    "nothing else of the plan."
)
_GOAL = "What it is to find out or to do, written out as LITERAL; hand results of other nodes over as `given`."


def with_agents(catalog: Catalog) -> Catalog:
    """Return a catalog with the tool `agent`, whose effect is the strongest of those that it may call.

    Raises:
        ToolError: INVALID_ARGUMENT when a tool of the toolkit has its name, or that of a tool that every agent has.
    """
    known = (*(tool.name for tool in catalog.tools), *(each.name for each in catalog.withheld), *catalog.left_out)
    taken = [name for name in known if name == AGENT or name in MEMORY_NAMES]
    if taken:
        raise ToolError(
            ErrorCode.INVALID_ARGUMENT,
            f"toolkit {catalog.toolkit!r} has tools named {listed(taken)}, which agents need for themselves: rename "
            "them, or do not allow agents",
        )
    return catalog.model_copy(update={"tools": (*catalog.tools, _agent(catalog))})


def share_of(left: Amount, agents: int, kept: Amount = NOTHING) -> Amount | None:
    """Return the part of what is left for the next of so many agents: an equal one, or the least that it needs.

    Args:
        left: What is neither spent nor reserved, with what the node itself holds.
        agents: Agents that are still to start, this one included; at least 1.
        kept: What other nodes will need of it.

    Returns:
        None when even the least is not left.
    """
    if not LEAST_SHARE.fits_in(left):
        return None
    room = left.minus(kept)
    return Amount(
        max(LEAST_SHARE.tokens, room.tokens // agents),
        max(LEAST_SHARE.tool_calls, room.tool_calls // agents),
        max(LEAST_SHARE.cost_usd, _rounded_down(room.cost_usd / agents)),
    )


def node_error(result: LoopResult) -> tuple[ErrorCode, str] | None:
    """Return as what the node of an agent fails; None when it has its answer.

    An agent that got to its limits fails as a planner's mistake: another plan may set a smaller goal. One that may have
    written fails so that nothing runs it again, whatever stopped it: nobody knows how much of its work is done.
    """
    if result.status is LoopStatus.COMPLETED:
        return None
    code, why = _failure_of(result)
    return ErrorCode.UNCERTAIN_EFFECT if result.has_written else code, why


def _failure_of(result: LoopResult) -> tuple[ErrorCode, str]:
    match result.status:
        case LoopStatus.FAILED | LoopStatus.CANCELLED:
            why = result.error or "nothing says why"
            return result.error_code or ErrorCode.INTERNAL, f"the agent ended with {result.status}: {why}"
        case _:
            partial = f"; it says: {bounded(result.report, MAX_PARTIAL_CHARS)}" if result.report else ""
            why = result.error or "its limit is reached"
            return ErrorCode.INVALID_OUTPUT, f"the agent ended with {result.status}: {why}{partial}"


def _rounded_down(cost: Decimal) -> Decimal:
    return cost.quantize(Decimal(1).scaleb(-COST_DIGITS), ROUND_DOWN)


def _agent(catalog: Catalog) -> ToolSpec:
    order = list(Effect)
    effects = (tool.effect for tool in catalog.tools if tool.role is not ToolRole.FINAL_SYNTHESIS)
    return ToolSpec(
        name=AGENT,
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "goal": {"type": "string", "minLength": 1, "description": _GOAL},
                "given": {"description": "Data beside the goal, of any type, such as results of other nodes."},
            },
            "required": ["goal"],
            "additionalProperties": False,
        },
        result={
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": False,
        },
        role=ToolRole.ANALYSIS,
        effect=max(effects, key=order.index, default=Effect.READ),
        timeout=AGENT_TIMEOUT,
        max_tries=1,
    )
