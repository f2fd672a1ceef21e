"""What a run answers, without a server."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import pytest
from temporalio.client import Client, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

from cli import runs
from cli.exit_codes import ExitCode, Refusal
from cli.runs import Run
from harness.budget import BudgetSnapshot, Extension
from harness.trace import TraceEvent, TraceKind

BUDGET = BudgetSnapshot(
    tokens=0,
    max_tokens=1,
    tool_calls=0,
    max_tool_calls=1,
    cost_usd=Decimal(0),
    max_cost_usd=Decimal(1),
    elapsed=timedelta(0),
    max_wall_clock=timedelta(1),
    pressure=0,
)
MORE = Extension(message_id="one", tokens=5)


class Handle:
    """Answers as the workflow would."""

    def __init__(
        self, *, events: int = 0, dropped: int = 0, page: int = 10, fails: list[Exception] | None = None
    ) -> None:
        self.trace = tuple(event(number) for number in range(dropped, events))
        self.dropped, self.page, self.fails = dropped, page, fails or []
        self.ids: list[str] = []

    async def query(self, _name: str, after: int, **_: object) -> tuple[TraceEvent, ...]:
        start = max(0, after - self.dropped)
        return self.trace[start : start + self.page]

    async def execute_update(self, _name: str, _more: Extension, *, id: str, **_: object) -> BudgetSnapshot:
        self.ids.append(id)
        if self.fails:
            raise self.fails.pop(0)
        return BUDGET


class HandleClient:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def get_workflow_handle(self, _run_id: str, **_: Any) -> Handle:
        return self._handle


def event(number: int) -> TraceEvent:
    return TraceEvent(
        timestamp=datetime.fromtimestamp(number, UTC),
        run_id="run-1",
        session_id="",
        attempt=0,
        kind=TraceKind.NODE_START,
        status="RUNNING",
        message=str(number),
        budget=BUDGET,
    )


def run_of(handle: Handle) -> Run:
    return Run(cast("Client", HandleClient(handle)), "run-1")


@pytest.mark.parametrize("dropped", [0, 1, 7, 10, 13, 24, 25])
async def test_whole_trace_holds_every_event_once_also_when_the_oldest_are_gone(dropped: int) -> None:
    events = await run_of(Handle(events=25, dropped=dropped)).whole_trace()

    assert [int(event.message or "") for event in events] == list(range(dropped, 25))


@pytest.mark.parametrize(
    "status",
    [
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.ABORTED,
    ],
)
async def test_extension_is_sent_again_under_its_id(monkeypatch: pytest.MonkeyPatch, status: RPCStatusCode) -> None:
    monkeypatch.setattr(runs, "SEND_PAUSE_S", 0)
    handle = Handle(fails=[RPCError("busy", status, b"")] * 2)

    assert await run_of(handle).extend(MORE) == BUDGET
    assert handle.ids == ["one"] * 3


@pytest.mark.parametrize(
    "error", [RPCError("busy", RPCStatusCode.UNAVAILABLE, b""), WorkflowUpdateRPCTimeoutOrCancelledError()]
)
async def test_extension_without_an_answer_is_not_called_refused(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(runs, "SEND_PAUSE_S", 0)
    handle = Handle(fails=[error] * 99)

    with pytest.raises(
        Refusal, match=r"^It is not known whether run run-1 was extended .* starter.py show run-1$"
    ) as it:
        await run_of(handle).extend(MORE)
    assert it.value.code is ExitCode.FAILED
    assert len(handle.ids) <= runs.SENDS


async def test_extension_that_the_server_refuses_is_not_sent_again() -> None:
    handle = Handle(fails=[RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")])

    with pytest.raises(RPCError, match="no"):
        await run_of(handle).extend(MORE)
    assert handle.ids == ["one"]
