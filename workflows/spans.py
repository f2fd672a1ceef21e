"""The spans of a run: run > attempt > node. They are made in workflow code and come out once, whatever is replayed.

A run is a chain of workflow runs, but a span can only be ended by the process that started it. So every workflow run of
the chain starts the spans `run` and `attempt N` anew, under ids that follow from the chain, and only the workflow run
that sees them end ends them; a span that is not ended is never exported. Spans hold no text of users, models or tools.
Without telemetry the tracer is OpenTelemetry's own, which does nothing.
"""

import hashlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from opentelemetry import context as otel
    from opentelemetry import trace
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Status, StatusCode

    from harness.schedule import NodeStatus

from workflows.node_state import NodeState
from workflows.run_core import RunCore

INSTRUMENTATION = "whippletree"
SPAN_ID = "whippletree-span-id"
TRACE_ID = "whippletree-trace-id"
"""Context keys under which a span finds the ids that it must have; see workflows.span_export."""

Attributes = Mapping[str, str | int | float]


class RunSpans:
    """The spans of one run and of its current attempt, the latter being where activities started from now on nest."""

    def __init__(self, run: RunCore) -> None:
        """Start both; call it in the main task of the workflow."""
        self._state = run
        run.is_traced = _is_traced()
        self._outside = otel.get_current()
        self._run = _start_in_chain("run", self._outside, _of_run(run), run.started_at)
        name, within_run = f"attempt {run.attempt}", trace.set_span_in_context(self._run, self._outside)
        run.attempt_started_at = run.attempt_started_at or workflow.now()
        self._attempt = _start_in_chain(name, within_run, _of_attempt(run), run.attempt_started_at)
        # Never detached: the context belongs to the task and ends with it. Detaching would fail in an evicted workflow.
        otel.attach(trace.set_span_in_context(self._attempt, within_run))

    def hand_over(self, *, is_executing: bool) -> None:
        """Leave the spans to the next workflow run; call it right before continue-as-new.

        The attempt ends unless its plan is still executing.
        """
        if not is_executing:
            _end(self._attempt, "REPLANNED", self._state.failures[-1].error_class)
        otel.attach(self._outside)

    def end(self, failure: str | None = None) -> None:
        """End the attempt and the run, which has its ending, or raises this type of failure instead of a result."""
        state, ending = self._state, self._state.ending
        spent = state.budget.ledger.spent
        self._run.set_attribute("whippletree.attempts", state.attempt + 1)
        self._run.set_attribute("whippletree.tokens", spent.tokens)
        self._run.set_attribute("whippletree.tool_calls", spent.tool_calls)
        status = ending.status if ending else "FAILED"
        is_success = ending is not None and ending.is_success
        error = None if is_success else failure or (ending and ending.error_code) or status
        _end(self._attempt, status, error)
        _end(self._run, status, error)


@dataclass(frozen=True)
class NodeSpan:
    """The span of one execution of a node: from dispatch to settlement, waits between its tries included."""

    span: Span
    tries_before: int
    tokens_before: int
    """Tries and tokens of earlier executions of the node in the same attempt, after a run-level retry."""

    @classmethod
    def start(cls, run: RunCore, state: NodeState) -> "NodeSpan":
        """Start the span within the attempt, whatever other nodes are running."""
        if not run.is_traced:
            return _NO_SPAN
        node_id, tool = state.node.id, state.node.tool
        attributes: Attributes = _of_attempt(run) | {
            "whippletree.node_id": node_id,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
        }
        span = _tracer().start_span(f"node {node_id}", attributes=attributes)
        return cls(span, state.tries, state.usage.total_tokens)

    def is_current(self) -> AbstractContextManager[object]:
        """Make the spans of activities nest under this one that the body starts. The body must not wait."""
        if self.span is trace.INVALID_SPAN:
            return _NO_CONTEXT
        return trace.use_span(self.span, record_exception=False, set_status_on_exception=False)

    def end(self, state: NodeState) -> None:
        """End the span with how the node was settled."""
        if self.span is trace.INVALID_SPAN:
            return
        self.span.set_attribute("whippletree.tries", state.tries - self.tries_before)
        self.span.set_attribute("whippletree.tokens", state.usage.total_tokens - self.tokens_before)
        is_success = state.status is NodeStatus.DONE
        _end(self.span, state.status, None if is_success else state.error_code or state.status)


_NO_SPAN = NodeSpan(trace.INVALID_SPAN, 0, 0)
_NO_CONTEXT: AbstractContextManager[object] = nullcontext()


def _of_run(run: RunCore) -> dict[str, str | int | float]:
    attributes: dict[str, str | int | float] = {"whippletree.run_id": run.run_id}
    if run.request.session_id:
        attributes["whippletree.session_id"] = run.request.session_id
    return attributes | {"whippletree.toolkit": run.request.toolkit}


def _of_attempt(run: RunCore) -> dict[str, str | int | float]:
    return {"whippletree.run_id": run.run_id, "whippletree.attempt": run.attempt}


def _start_in_chain(name: str, parent: Context, attributes: Attributes, started_at: datetime) -> Span:
    """Start a span whose ids are the same in every workflow run of the chain."""
    chain = workflow.info().first_execution_run_id
    ids = otel.set_value(SPAN_ID, _id(f"{chain}/{name}", size=8), parent)
    token = otel.attach(otel.set_value(TRACE_ID, _id(chain, size=16), ids))
    try:
        return _tracer().start_span(name, parent, attributes=attributes, start_time=_nanoseconds(started_at))
    finally:
        otel.detach(token)


def _end(span: Span, status: str, error: str | None) -> None:
    span.set_attribute("whippletree.status", str(status))
    if error is not None:
        span.set_attribute("error.type", str(error))
        span.set_status(Status(StatusCode.ERROR, str(error)))
    span.end()


def _is_traced() -> bool:
    """Return whether spans go anywhere; without telemetry a plan of thousands of nodes makes none."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def _tracer() -> trace.Tracer:
    return trace.get_tracer(INSTRUMENTATION)


def _id(seed: str, *, size: int) -> int:
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:size], "big")


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000) * 1000
