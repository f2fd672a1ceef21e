"""Recorded histories: how they are fetched, stored and read. A run has one for each workflow run of its chain."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle, WorkflowHistory

FOLDER = Path(os.environ.get("REPLAY_FOLDER") or Path(__file__).parent / "histories")


async def fetch_chain(client: Client, handle: WorkflowHandle[Any, Any]) -> list[WorkflowHistory]:
    """Return the histories of all workflow runs of a chain, first to last."""
    chain: list[WorkflowHistory] = []
    run_id: str | None = handle.first_execution_run_id
    while run_id:
        history = await client.get_workflow_handle(handle.id, run_id=run_id).fetch_history()
        chain.append(history)
        last = history.events[-1]
        run_id = last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id or None
    return chain


async def failed_tasks(handle: WorkflowHandle[Any, Any]) -> int:
    """Return how many workflow tasks failed."""
    history = await handle.fetch_history()
    return sum(1 for e in history.events if e.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)


def write(name: str, chain: list[WorkflowHistory]) -> None:
    """Store a chain as one file a workflow run."""
    FOLDER.mkdir(exist_ok=True)
    for number, history in enumerate(chain):
        text = json.dumps(_without_machine(json.loads(history.to_json())), indent=1, sort_keys=True)
        (FOLDER / f"{name}.{number}.json").write_text(text + "\n")


def stored() -> Iterator[tuple[str, WorkflowHistory]]:
    """Yield every stored history by its name, in the order of names."""
    for path in sorted(FOLDER.glob("*.json")):
        text = path.read_text()
        started = json.loads(text)["events"][0]["workflowExecutionStartedEventAttributes"]
        yield path.stem, WorkflowHistory.from_json(started["workflowId"], text)


def _without_machine(part: Any) -> Any:
    """Leave out what tells of the machine that recorded: stack traces with its paths, names of its processes."""
    if isinstance(part, dict):
        return {key: _without_machine(value) for key, value in part.items() if key not in {"stackTrace", "identity"}}
    return [_without_machine(value) for value in part] if isinstance(part, list) else part
