"""The prompt of a routing call: the goal and the tools on offer, one a line."""

from activities.prompts import FENCE_RULE, MAX_CATALOG_CHARS, Prompt, fenced, fenced_json
from harness.calls import RouteRequest

ROUTING_RULES = f"""You pick tools. Somebody will then write a plan that reaches a goal with these tools, and
with no others.

Answer with one JSON object and nothing else: {{"tools": [...]}}, the exact names, the most useful tool first.
- Pick what the goal needs, and what those tools need in turn: a tool may take what another one finds out.
- Keep to the limit. Fewer are better than some that do not help.
- A tool that writes the report is there already.

{FENCE_RULE}"""


def routing_prompt(request: RouteRequest) -> Prompt:
    """Return the prompt that asks which tools suit the goal."""
    offers = "\n".join(offer.model_dump_json(exclude_unset=True) for offer in request.offers)
    parts = [
        "Pick tools for this goal:",
        fenced("goal", request.goal),
        "The tools, one a line:",
        fenced("tools", offers, limit=MAX_CATALOG_CHARS),
        f"Pick at most {request.most}.",
        fenced_json("limits", {"max_tools": request.most}),
    ]
    if request.failures:
        told = "\n".join(failure.model_dump_json(exclude_unset=True) for failure in reversed(request.failures))
        parts += ["Earlier attempts at this goal failed, newest first; pick so that the next one can do better:"]
        parts += [fenced("failures", told)]
    return Prompt(system=ROUTING_RULES, user="\n\n".join(parts))
