"""Run ids of agents in plans."""

import pytest

from harness.run_ids import child_run_id, root_run_id


def test_an_agent_in_a_plan_is_named_after_run_node_attempt_and_start() -> None:
    assert child_run_id("run-abc", "agent", 0, 0) == "run-abc::agent@0.0"
    assert child_run_id("run-abc", "agent", 1, 2) == "run-abc::agent@1.2"


@pytest.mark.parametrize(
    ("workflow_id", "root"),
    [
        ("run-abc", "run-abc"),
        ("run-abc::agent@0.1", "run-abc"),
        ("run-abc::agent@0.0::deeper@2.0", "run-abc"),
        ("mine:1", "mine:1"),
        ("", ""),
        ("::odd", "::odd"),
    ],
)
def test_an_agent_belongs_to_the_run_at_the_root(workflow_id: str, root: str) -> None:
    assert root_run_id(workflow_id) == root
