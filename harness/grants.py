"""Grants: how many tries, tokens and dollars a node may use when it starts.

Every node of a validated plan holds a base reservation of one call from the start of execution, the final synthesis
its tokens as well. Further tries come from the surplus, so healthy plans are never starved by retries that might
happen.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from harness.agent_node import AGENT, share_of
from harness.budget import ONE_CALL, Amount, Budget
from harness.catalog import Catalog, ModelCard, ToolRole, ToolSpec
from harness.record import record
from harness.recovery import FailureContext
from harness.usage import NO_USAGE, Usage, estimate_tokens

LEAST_MODEL_TOKENS = 200
"""A model call with fewer tokens than this, prompt and output together, is not worth starting."""
PLANNING_TRIES = 3
PLANNING_RULES_TOKENS = 700
"""Most tokens of the fixed part of a planning prompt."""


@record()
class Grant:
    """What a node may use."""

    tries: int
    tokens_per_try: int
    reserved: Amount
    """Everything that is reserved for the node, its base reservation included."""


def cost_of(tokens: int, card: ModelCard) -> Decimal:
    """Return the most that tokens can cost; 0 when the price is unknown."""
    return tokens * card.token_usd


def base_reservation(tool: ToolSpec, *, synthesis_tokens: int, card: ModelCard, budget: Budget) -> Amount:
    """Return what a node holds from the start of execution: one call, and the tokens of the final synthesis.

    The synthesis takes what is left when that is less than it wants: a shorter report beats none.
    """
    if tool.role is not ToolRole.FINAL_SYNTHESIS or tool.max_model_tokens == 0:
        return ONE_CALL
    room = _affordable_tokens(budget.left(), card)
    tokens = max(LEAST_MODEL_TOKENS, min(synthesis_tokens, tool.max_model_tokens, room))
    return Amount(tool_calls=1, tokens=tokens, cost_usd=cost_of(tokens, card))


def grant(tool: ToolSpec, held: Amount, *, budget: Budget, card: ModelCard, is_high_pressure: bool) -> Grant | None:
    """Reserve what a node may use beyond what it holds; None when its model tokens cannot fit.

    Near a limit, and under high pressure, a node gets fewer tries; it always gets one.
    """
    most = 0 if is_high_pressure else tool.tries - 1
    if tool.max_model_tokens == 0:
        extra = Amount(tool_calls=min(most, budget.calls_left))
        budget.hold(extra)
        return Grant(tries=1 + extra.tool_calls, tokens_per_try=held.tokens, reserved=held.plus(extra))
    tokens = held.tokens
    if tokens == 0:
        tokens = min(tool.max_model_tokens, _affordable_tokens(budget.left(), card))
    first = Amount(tokens=tokens - held.tokens, cost_usd=cost_of(tokens - held.tokens, card))
    if tokens < min(LEAST_MODEL_TOKENS, tool.max_model_tokens) or not budget.reserve(first):
        return None
    one_more = Amount(tool_calls=1, tokens=tokens, cost_usd=cost_of(tokens, card))
    more = one_more.times_in(budget.left(), most=most)
    extra = one_more.times(more)
    budget.reserve(extra)
    return Grant(tries=1 + more, tokens_per_try=tokens, reserved=held.plus(first).plus(extra))


def agent_grant(held: Amount, waiting: Sequence[ToolSpec], *, budget: Budget, card: ModelCard) -> Grant | None:
    """Reserve the share of an agent node; None when it is too small.

    Args:
        held: What the node holds, and every other agent.
        waiting: The tools of all nodes that are still to start, this one included. Those that call models keep what one
            try may use, or an equal part where that is less.
        budget: The budget of the run.
        card: The model by which the others are reserved.
    """
    left = budget.left()
    agents = sum(1 for tool in waiting if tool.name == AGENT)
    share = share_of(left.plus(held.times(agents)), agents, _kept_for(waiting, agents, left, card))
    if share is None:
        return None
    extra = share.minus(held)
    budget.hold(extra)
    return Grant(tries=1, tokens_per_try=share.tokens, reserved=held.plus(extra))


def plan_grant(
    prompt_tokens: int, output_tokens: int, *, budget: Budget, card: ModelCard, is_high_pressure: bool
) -> Grant | None:
    """Reserve the tries of a planning call, which is no tool call; None when not even one fits.

    The output is lowered to what is left, down to the least that is worth a call.
    """
    tokens = min(prompt_tokens + output_tokens, _affordable_tokens(budget.left(), card))
    if tokens < prompt_tokens + min(LEAST_MODEL_TOKENS, output_tokens):
        return None
    one = Amount(tokens=tokens, cost_usd=cost_of(tokens, card))
    reserved, tries = Amount(), 0
    while tries < (1 if is_high_pressure else PLANNING_TRIES) and budget.reserve(one):
        reserved, tries = reserved.plus(one), tries + 1
    return Grant(tries=tries, tokens_per_try=tokens, reserved=reserved) if tries else None


def planning_prompt_tokens(goal: str, catalog: Catalog, failures: Iterable[FailureContext]) -> int:
    """Estimate the prompt of a planning call, on the high side, from what it is built of."""
    told = sum(estimate_tokens(failure.model_dump_json(exclude_unset=True)) for failure in failures)
    # The planner is not told of other models.
    offered = catalog.model_dump_json(exclude={"role_models", "fallback"}, exclude_unset=True)
    return PLANNING_RULES_TOKENS + estimate_tokens(goal) + estimate_tokens(offered) + told


def usage_of_lost(grant: Grant, lost_tries: int, card: ModelCard) -> Usage:
    """Return what tries that were lost with their worker may have used: their whole grant, as an estimate."""
    tokens = grant.tokens_per_try * max(0, lost_tries)
    if tokens == 0:
        return NO_USAGE
    is_priced = card.input_token_usd is not None and card.output_token_usd is not None
    cost_usd = cost_of(tokens, card) if is_priced else None
    return Usage(model=card.name, input_tokens=tokens, cost_usd=cost_usd, estimated=True)


def _kept_for(waiting: Sequence[ToolSpec], agents: int, left: Amount, card: ModelCard) -> Amount:
    """Return what an agent must leave for the model calls of other nodes; that of the report is reserved already."""
    wanted = [tool.max_model_tokens for tool in waiting if tool.role is not ToolRole.FINAL_SYNTHESIS]
    asking = [tokens for tokens in wanted if tokens]
    part = _affordable_tokens(left, card) // (agents + len(asking))
    tokens = sum(min(most, part) for most in asking)
    return Amount(tokens=tokens, cost_usd=cost_of(tokens, card))


def _affordable_tokens(left: Amount, card: ModelCard) -> int:
    price = cost_of(1, card)
    return min(left.tokens, int(left.cost_usd // price)) if price else left.tokens
