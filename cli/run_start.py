"""How a run is started: under a new id, with every option, and without the private values of its goal."""

from uuid import uuid4

from temporalio.client import Client
from temporalio.common import WorkflowIDReusePolicy

from cli.exit_codes import ExitCode, Refusal
from cli.plain_text import one_line
from cli.private_values import masked_goal
from cli.run_kinds import KINDS, Mode
from cli.runs import RPC_LIMIT, Run
from harness.carry import RunInput
from harness.errors import ToolError
from harness.run import MAX_GOAL_CHARS, RunRequest


def new_run_id() -> str:
    """Return an id for a run that is to be started."""
    return f"run-{uuid4().hex[:12]}"


async def start_run(
    client: Client, request: RunRequest, run_id: str, queue: str, *, mode: Mode, activity_queue: str = ""
) -> Run:
    """Start a run under a new id, in the task queue where its worker is; its calls may have a queue of their own."""
    goal = await _sendable_goal(client, run_id, request.goal)
    # Every option is sent, also those that nobody set: a later default must not change a run that is under way.
    own = {"activity_queue": activity_queue} if activity_queue else {}
    pinned = RunInput.model_validate({**request.model_dump(), "goal": goal, **own})
    kind = KINDS[mode]
    await client.start_workflow(
        kind.workflow_type,
        pinned,
        id=run_id,
        task_queue=queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        memo={"goal": goal[:500], "session_id": request.session_id, "toolkit": request.toolkit, **own},
        static_summary=one_line(goal, 200),
        rpc_timeout=RPC_LIMIT,
    )
    return Run(client, run_id, kind)


async def _sendable_goal(client: Client, run_id: str, goal: str) -> str:
    """Return the goal as the server may see it: with placeholders in place of private values."""
    try:
        masked = await masked_goal(client, run_id, goal)
    except ToolError as error:
        raise Refusal(
            f"The private values of the goal cannot be kept, so nothing was started: {error.message}.", ExitCode.FAILED
        ) from error
    if len(masked) > MAX_GOAL_CHARS:
        raise Refusal(
            f"--goal is too long: {len(masked):,} characters with placeholders for its private values, at most "
            f"{MAX_GOAL_CHARS:,} are taken."
        )
    return masked
