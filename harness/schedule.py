"""The scheduler: which node may start now, and what a node's end releases or skips. Event-driven, no waves.

A node starts the moment its last dependency is DONE. A node whose dependency failed or was skipped is skipped once all
its dependencies are terminal. Source: harness-demo DagScheduler, with plan order in place of its hash order.
"""

import heapq
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.plan import Plan

DEPENDENCY_FAILED = "dependency failed"
BUDGET_EXHAUSTED = "budget exhausted"


class NodeStatus(StrEnum):
    """State of a node."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"
    CANCELLED = "CANCELLED"
    """Stopped while RUNNING, by a cancel or by the wall clock."""

    __hash__ = str.__hash__  # an Enum hashes in Python, and each step of a node is counted by its state

    @property
    def is_terminal(self) -> bool:
        """Return whether the node will not change any more."""
        return self is not NodeStatus.PENDING and self is not NodeStatus.RUNNING


@dataclass
class Schedule:
    """The state of one execution of a plan. Work per event is O(log n) plus the node's own dependents."""

    status: dict[str, NodeStatus]
    """Status by node id, in plan order."""
    _rank: dict[str, int]
    _dependents: dict[str, list[str]]
    _open_deps: dict[str, int]
    _blocked: set[str] = field(default_factory=set)
    """Nodes of which a dependency ended otherwise than DONE."""
    _ready: list[int] = field(default_factory=list)
    """Heap of the ranks of nodes that may start."""
    _order: tuple[str, ...] = ()
    _unfinished: int = 0
    _running: int = 0

    @classmethod
    def of(cls, plan: Plan, ended: Mapping[str, NodeStatus] | None = None) -> "Schedule":
        """Build the schedule of a valid plan; those of its nodes that have ended are so from the start."""
        order = tuple(node.id for node in plan.nodes)
        dependents: dict[str, list[str]] = {node_id: [] for node_id in order}
        open_deps: dict[str, int] = {}
        for node in plan.nodes:
            unique = dict.fromkeys(node.deps)
            open_deps[node.id] = len(unique)
            for dep in unique:
                dependents[dep].append(node.id)
        schedule = cls(
            status=dict.fromkeys(order, NodeStatus.PENDING),
            _rank={node_id: rank for rank, node_id in enumerate(order)},
            _dependents=dependents,
            _open_deps=open_deps,
            _order=order,
            _unfinished=len(order),
        )
        for node_id in order:
            if open_deps[node_id] == 0:
                schedule._push(node_id)
        # What is DONE comes first: it stays so, whatever has become of what it depends on.
        for node_id, status in sorted((ended or {}).items(), key=lambda item: item[1] is not NodeStatus.DONE):
            schedule._end(node_id, status)
        return schedule

    @property
    def is_finished(self) -> bool:
        """Return whether every node is terminal."""
        return self._unfinished == 0

    @property
    def is_stalled(self) -> bool:
        """Return whether nodes are pending though none is ready or running: a bug or an invalid plan, never a wait."""
        return self._unfinished > 0 and self._running == 0 and self.peek_ready() is None

    def peek_ready(self) -> str | None:
        """Return the first node in plan order that may start, or None."""
        while self._ready and self.status[self._order[self._ready[0]]] is not NodeStatus.PENDING:
            heapq.heappop(self._ready)
        return self._order[self._ready[0]] if self._ready else None

    def start(self, node_id: str) -> None:
        """Mark a ready node as RUNNING."""
        self.status[node_id] = NodeStatus.RUNNING
        self._running += 1

    def finish(self, node_id: str) -> tuple[str, ...]:
        """Mark a node as DONE; return the nodes this skips: those of which another dependency had failed."""
        return self._end(node_id, NodeStatus.DONE)

    def fail(self, node_id: str) -> tuple[str, ...]:
        """Mark a node as FAILED; return the nodes this skips, in the order in which they are skipped."""
        return self._end(node_id, NodeStatus.FAILED)

    def cancel(self, node_id: str) -> tuple[str, ...]:
        """Mark a node as CANCELLED; return the nodes this skips."""
        return self._end(node_id, NodeStatus.CANCELLED)

    def skip(self, node_id: str) -> tuple[str, ...]:
        """Mark a node as SKIPPED; return the further nodes this skips."""
        return self._end(node_id, NodeStatus.SKIPPED)

    def _end(self, node_id: str, status: NodeStatus) -> tuple[str, ...]:
        """End a node and skip what that leaves without a chance; a node that has already ended stays as it is."""
        skipped: list[str] = []
        queue = deque([] if self.status[node_id].is_terminal else [(node_id, status)])
        while queue:
            ended, as_status = queue.popleft()
            self._set_terminal(ended, as_status)
            for dependent in self._dependents[ended]:
                if self._release(dependent, succeeded=as_status is NodeStatus.DONE):
                    skipped.append(dependent)
                    queue.append((dependent, NodeStatus.SKIPPED))
        return tuple(skipped)

    def _set_terminal(self, node_id: str, status: NodeStatus) -> None:
        if self.status[node_id] is NodeStatus.RUNNING:
            self._running -= 1
        self.status[node_id] = status
        self._unfinished -= 1

    def _release(self, dependent: str, *, succeeded: bool) -> bool:
        """Count one dependency of a node as ended; return whether the node must be skipped now."""
        self._open_deps[dependent] -= 1
        if not succeeded:
            self._blocked.add(dependent)
        if self._open_deps[dependent] > 0 or self.status[dependent].is_terminal:
            return False
        if dependent in self._blocked:
            return True
        self._push(dependent)
        return False

    def _push(self, node_id: str) -> None:
        heapq.heappush(self._ready, self._rank[node_id])
