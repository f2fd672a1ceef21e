"""Run ids: a run and the agents that its plan contains are workflows of their own, and share one root run."""

_MARK = "::"
"""Stands between a run and the node of its plan that is an agent; a plan's node ids have no colon."""


def child_run_id(run_id: str, node_id: str, attempt: int, dispatch: int) -> str:
    """Return the workflow id of the agent that is a node of a run's plan, such as `run-abc::agent@0.0`.

    The idempotency keys of its calls begin with it: two agents with one id would give two different calls one key.

    Args:
        run_id: Workflow id of the run, which may be a child itself.
        node_id: Id of the node in the plan.
        attempt: The run's planning round, from 0.
        dispatch: How often the node was started before in that round: a run-level retry starts it again.
    """
    return f"{run_id}{_MARK}{node_id}@{attempt}.{dispatch}"


def root_run_id(workflow_id: str) -> str:
    """Return the run to which a workflow belongs: itself, unless its id is that of an agent in a plan."""
    return workflow_id.partition(_MARK)[0] or workflow_id
