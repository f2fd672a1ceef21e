"""A flight whose node is an agent: a child workflow with a share of the run's budget, instead of an activity."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from harness.budget import Limits
    from harness.call import Call
    from harness.calls import AgentReply
    from harness.catalog import ModelCard, ToolSpec
    from harness.errors import bounded
    from harness.grants import Grant
    from harness.loop import LoopResult
    from harness.loop_carry import LoopInput
    from harness.made_writes import known_writes
    from harness.run_ids import child_run_id

from workflows.activity_options import GRACE
from workflows.agent_result import failure_of_lost, reply_of
from workflows.flight import Flight
from workflows.node_state import NodeState
from workflows.run_state import RunState
from workflows.spans import NodeSpan

AGENT_WORKFLOW = "AgentLoopWorkflow"
LEAST_TIME = timedelta(milliseconds=1)


def launch_agent(
    run: RunState, state: NodeState, tool: ToolSpec, *, call: Call, granted: Grant, card: ModelCard
) -> Flight:
    """Start the agent of a node, whose goal was checked."""
    workflow_id = child_run_id(run.run_id, state.node.id, run.attempt, state.agents)
    state.agents += 1
    span = NodeSpan.start(run, state)
    with span.is_current():
        handle = asyncio.create_task(_work(workflow_id, _input(run, call, granted), granted, card))
    return Flight(state, tool, handle, granted, card, call, span, workflow_id)


def _input(run: RunState, call: Call, granted: Grant) -> LoopInput:
    values = dict(call.arguments.values)
    goal = values.pop("goal")
    options = run.request.options.model_copy(update={"limits": _limits(run, granted), "allow_agents": False})
    said = {
        "given": values,
        "stored": call.arguments.stored,
        "written": known_writes(run.agent_writes, run.written),
        "activity_queue": run.activity_queue,
    }
    return LoopInput.model_validate(
        {
            "goal": goal,
            "session_id": run.request.session_id,
            "toolkit": run.request.toolkit,
            "options": options,
            **{name: value for name, value in said.items() if value},
        }
    )


def _limits(run: RunState, granted: Grant) -> Limits:
    """Return the share of the agent as its limits; its time is what is left of the run's."""
    share = granted.reserved
    return Limits(
        max_tokens=share.tokens,
        max_tool_calls=share.tool_calls,
        max_wall_clock=max(run.time_left, LEAST_TIME),
        max_cost_usd=share.cost_usd,
    )


async def _work(workflow_id: str, given: LoopInput, granted: Grant, card: ModelCard) -> AgentReply:
    began = workflow.now()
    try:
        result: LoopResult = await workflow.execute_child_workflow(
            AGENT_WORKFLOW,
            given,
            id=workflow_id,
            result_type=LoopResult,
            cancellation_type=ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            parent_close_policy=ParentClosePolicy.REQUEST_CANCEL,
            execution_timeout=given.options.limits.max_wall_clock + GRACE,
            static_summary=bounded(given.goal, 200),
            memo=_memo(given),
        )
    except ChildWorkflowError as error:
        raise failure_of_lost(error, granted.reserved, card) from error
    return reply_of(result, given.written, workflow.now() - began)


def _memo(given: LoopInput) -> dict[str, str]:
    """Return what the command line must know of a run, as its starter writes it."""
    queue = {"activity_queue": given.activity_queue} if given.activity_queue else {}
    return {"goal": given.goal[:500], "session_id": given.session_id, "toolkit": given.toolkit, **queue}
