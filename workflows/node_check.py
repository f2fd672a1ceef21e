"""Checks of a node when its arguments are known, right before it would start: what a plan alone cannot tell."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from harness.agent_node import AGENT
    from harness.call import Call
    from harness.catalog import Effect, ToolSpec
    from harness.errors import ErrorCode, ToolError, quoted
    from harness.made_writes import write_key
    from harness.plan import BindingType, PlanNode
    from harness.run import MAX_GOAL_CHARS

from workflows.run_state import RunState


def is_agent(run: RunState, tool: ToolSpec) -> bool:
    """Return whether a tool is the agent, and no tool of a toolkit that has its name."""
    return tool.name == AGENT and run.request.options.allow_agents


def check_call(run: RunState, node: PlanNode, tool: ToolSpec, call: Call) -> None:
    """Refuse a call that must not be made, so that another plan is.

    Raises:
        ToolError: INVALID_ARGUMENT.
    """
    if is_agent(run, tool):
        _check_goal(node, call)
    elif tool.effect is not Effect.READ:
        _check_write(run, tool, call)


def _check_goal(node: PlanNode, call: Call) -> None:
    """Refuse a goal that is not the planner's own: in a result, somebody else's instructions would become the goal."""
    if any(each.name == "goal" and each.value.type is not BindingType.LITERAL for each in node.arguments):
        problem = "the goal of an agent must be LITERAL text of the plan"
        raise ToolError(ErrorCode.INVALID_ARGUMENT, f"{problem}; hand results of other nodes over as `given`")
    goal = call.arguments.values.get("goal")
    if not isinstance(goal, str) or not goal.strip() or len(goal) > MAX_GOAL_CHARS:
        problem = f"the goal of an agent must be a text of 1 to {MAX_GOAL_CHARS:,} characters"
        raise ToolError(ErrorCode.INVALID_ARGUMENT, f"{problem}; hand data over as `given`")


def _check_write(run: RunState, tool: ToolSpec, call: Call) -> None:
    """Refuse what an agent of the run has written, unless its result is known and can be taken."""
    if not run.agent_writes or call.arguments.stored or any(key in run.paid for key in call.keys):
        return
    if write_key(tool, call.arguments.values) in run.agent_writes:
        problem = f"an agent of this run has made this call of {quoted(tool.name)}, which writes and is not repeated"
        raise ToolError(ErrorCode.INVALID_ARGUMENT, f"{problem}; leave the node out of the plan")
